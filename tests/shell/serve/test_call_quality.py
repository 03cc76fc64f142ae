"""What a process remembers of how fit models' calls were."""

from __future__ import annotations

import pytest

from toolwire.exchange.figures import Figures
from toolwire.model.settings import ProviderConfig, Target
from toolwire.shell.serve import call_quality


def test_names_that_clients_make_up_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_quality, "_MOST_MODELS", 3)
    seen = call_quality.Qualities(lambda: 1.0)
    provider = ProviderConfig("acme", "openai_chat", "http://acme")
    for name in "abacd":
        seen.note(Target(provider, name), Figures(stream=False, calls=30))

    assert set(seen.shares()) == {("acme", "a"), ("acme", "c"), ("acme", "d")}
