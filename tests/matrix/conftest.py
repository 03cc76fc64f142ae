"""`pytest tests/matrix --update-golden` rewrites the golden files, for a look at the difference before a commit."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/matrix/golden with today's answers")
