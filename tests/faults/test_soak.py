"""A short soak: `python -m tests.faults.soak` is the long one."""

from __future__ import annotations

import pytest

from tests.faults.soak import main

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]


def test_every_answer_is_right_or_a_clear_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seconds", "20", "--clients", "8"]) == 0, capsys.readouterr().out
