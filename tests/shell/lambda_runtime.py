"""Lambda's runtime as a program for `tests.starter`. How the layer's bootstrap starts it is in test_runtime.py."""

from __future__ import annotations

from collections.abc import Sequence

from toolwire.shell.serve import runtime


def main(argv: Sequence[str]) -> None:
    runtime.main()
