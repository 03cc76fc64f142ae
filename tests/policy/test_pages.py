"""docs/tool-policy.md says what the code does."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from toolwire.model.limits import MAXIMA, PRESETS, Limits
from toolwire.model.warnings import MESSAGES
from toolwire.policy import arguments, request_options
from toolwire.shell.settings.tenant_policy import POLICY_KEYS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "tool-policy.md").read_text()
CONFIGURATION = (DOCS / "configuration.md").read_text()


def test_limits_and_their_maxima() -> None:
    expected = [
        f"| `{field.name}` | "
        + " | ".join(
            f"{getattr(PRESETS[preset], field.name):,} ({getattr(MAXIMA[preset], field.name):,})"
            for preset in ("agents", "2api")
        )
        + " |"
        for field in fields(Limits)
    ]
    assert re.findall(r"^\| `\w+` \| [\d,]+ \(.*$", PAGE, re.MULTILINE) == expected


def test_every_option_and_its_values() -> None:
    told = dict(re.findall(r"^\| `(x-toolwire-[a-z-]+)` \|.*?\| (`.*) \|$", PAGE, re.MULTILINE))
    assert set(told) == set(request_options._OPTIONS)
    for name, (_, meanings) in request_options._OPTIONS.items():
        said = set(re.findall(r"`(\w+)`", told[name]))
        assert said <= set(meanings)
        assert {meanings[word] for word in said} == set(meanings.values()), "each meaning has a word"


def test_every_key_of_a_tenant_is_explained() -> None:
    assert [key for key in POLICY_KEYS if f"| `{key}` |" not in CONFIGURATION] == []


def test_every_code_is_explained() -> None:
    codes = (arguments.UNKNOWN, arguments.MALFORMED, arguments.INVALID)
    assert [code for code in codes if f"| `{code}` |" not in PAGE or code not in MESSAGES] == []
    warned = set(re.findall(r"warning\s+`([a-z_]+)[:`]", PAGE))
    assert len(warned) >= 5
    assert warned <= set(MESSAGES)
