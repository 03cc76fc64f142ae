"""Reads a client's options for the gateway from headers. The native door has the same options as body members.

    x-toolwire-validate-tool-arguments   off | annotate | reject (true is reject, false is off)
    x-toolwire-schema-mode               convert | reject | lossy
    x-toolwire-recover-text-calls        on | off
    x-toolwire-events                    standard | extended
    x-toolwire-fallback                  models, or off: read by `exchange.plan`

No provider gets them. An unknown name or value is refused: otherwise a mistyped option would go unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolwire.model.errors import RequestError
from toolwire.model.nearest import did_you_mean
from toolwire.model.request import RequestOptions

_PREFIX = "x-toolwire-"

#: Headers of this prefix that are read elsewhere: the mark on the gateway's own requests, and where a request may go.
_NOT_OPTIONS = frozenset({"x-toolwire-hop", "x-toolwire-fallback"})

_SWITCH = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}

#: Header -> field of `RequestOptions`, and what each value means.
_OPTIONS: dict[str, tuple[str, dict[str, object]]] = {
    "x-toolwire-validate-tool-arguments": (
        "validate_tool_arguments",
        {"off": "off", "annotate": "annotate", "reject": "reject", "true": "reject", "false": "off"},
    ),
    "x-toolwire-schema-mode": ("schema_mode", {"convert": "convert", "reject": "reject", "lossy": "lossy"}),
    "x-toolwire-recover-text-calls": ("recover_text_calls", dict[str, object](_SWITCH)),
    "x-toolwire-events": ("extended_events", {"standard": False, "extended": True}),
}


def read_options(headers: Mapping[str, str]) -> RequestOptions:
    """The options in a request's headers (names in lower case). Raises RequestError, code `invalid_option`, that names
    the header, what was there, and what may be."""
    fields: dict[str, Any] = {}
    for name, text in headers.items():
        if not name.startswith(_PREFIX) or name in _NOT_OPTIONS:
            continue
        if name not in _OPTIONS:
            known = ", ".join(_OPTIONS)
            raise RequestError(
                f"there is no option {name[:80]!r}; known: {known}.{did_you_mean(name[:80], _OPTIONS)}",
                code="invalid_option",
                param=name,
            )
        field, meanings = _OPTIONS[name]
        value = text.strip().lower()
        if value not in meanings:
            words = ", ".join(meanings)
            raise RequestError(
                f"the header `{name}` is {text[:80]!r}; write one of: {words}", code="invalid_option", param=name
            )
        fields[field] = meanings[value]
    return RequestOptions(**fields)
