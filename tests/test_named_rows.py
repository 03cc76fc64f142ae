"""One test that goes through a table's rows says of each what a test of its own would have said."""

from __future__ import annotations

import inspect

import pytest

from tests import named_rows
from tests.named_rows import SHOWN, each_row


def failure_of(test: object) -> BaseException:
    with pytest.raises(BaseException) as failed:  # noqa: PT011
        test()  # type: ignore[operator]
    return failed.value


def test_every_row_is_tried_in_every_cell() -> None:
    tried = []

    @each_row("door", ["chat_completions", "messages"])
    @each_row(("wire", "stream"), [("gemini", True), pytest.param("bedrock", False, id="b")])
    def test(door: str, wire: str, stream: bool) -> None:
        tried.append((door, wire, stream))

    test()
    assert tried == [
        (door, *row) for door in ("chat_completions", "messages") for row in (("gemini", True), ("bedrock", False))
    ]


def test_a_row_that_fails_is_named_and_hides_no_other() -> None:
    tried = []

    @each_row("door", ["chat_completions", "messages"])
    @each_row("n, of", [(1, 2), pytest.param(2, 2, id="all"), (3, [4] * 100)])
    def test(door: str, n: int, of: object) -> None:
        tried.append((door, n))
        assert door == "chat_completions" or n == 1, f"{door} {n}"

    failure = failure_of(test)
    assert len(tried) == 6
    assert isinstance(failure, ExceptionGroup)
    assert str(failure).splitlines()[:-1] == ["2 of 6 rows:", "messages | all"]
    assert [each.__notes__ for each in failure.exceptions] == [
        ["row: messages | all"],
        ["row: messages | 3-[4, 4, 4, 4, 4, 4, ...]"],
    ]
    assert ["messages 2" in str(failure.exceptions[0]), "messages 3" in str(failure.exceptions[1])] == [True, True]


def test_the_only_row_that_fails_is_the_failure() -> None:
    @each_row("n", [1, 2, 3], ids=["one", "two", "three"])
    def test(n: int) -> None:
        assert n != 2

    failure = failure_of(test)
    assert isinstance(failure, AssertionError)
    assert failure.__notes__ == ["row: two"]


def test_all_that_fail_are_named_where_few_are_shown() -> None:
    @each_row("n", range(50), ids=lambda n: f"<{n}>")
    def test(n: int) -> None:
        pytest.fail("no")

    failure = failure_of(test)
    assert isinstance(failure, BaseExceptionGroup)
    assert len(failure.exceptions) == SHOWN
    assert all(f"<{n}>" in str(failure) for n in range(50))


def test_a_row_that_is_skipped_fails() -> None:
    @each_row("n", [1, 2])
    def test(n: int) -> None:
        if n == 2:
            pytest.skip("not today")

    failure = failure_of(test)
    assert isinstance(failure, AssertionError)
    assert "not today" in str(failure)


@pytest.mark.parametrize("absent", ["", "reference data absent: no recordings"])
def test_without_rows_it_fails_unless_the_recordings_are_absent(absent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_rows, "without_recordings", lambda: absent)

    @each_row("n", [])
    def test(n: int) -> None: ...

    assert isinstance(failure_of(test), pytest.skip.Exception if absent else AssertionError)


def test_fixtures_marks_and_parameters_are_left_to_pytest() -> None:
    @pytest.mark.parametrize("wire", ["gemini"])
    @each_row("door", ["chat_completions"])
    @pytest.mark.integration
    @each_row("n", [1])
    def test_it(door: str, wire: str, n: int, tmp_path: object) -> None: ...

    assert list(inspect.signature(test_it).parameters) == ["wire", "tmp_path"]
    assert [mark.name for mark in vars(test_it)["pytestmark"]] == ["integration", "parametrize"]
    assert test_it.__name__ == "test_it"


def test_a_table_that_is_not_the_tests_is_refused() -> None:
    def test(n: int) -> None: ...

    with pytest.raises(AssertionError, match="the test has no"):
        each_row("m", [1])(test)
    with pytest.raises(AssertionError, match="bears no marks"):
        each_row("n", [pytest.param(1, marks=pytest.mark.integration)])(test)
    with pytest.raises(ValueError, match="argument 2"):
        each_row("n", [1, 2], ids=["one"])
