"""The committed pages say what the matrix says today."""

from __future__ import annotations

import pytest

from tests.matrix import page

HOW = "out of date: make conformance"

#: Both ask the judges about each answer of the matrix, as test_matrix.py does.
pytestmark = pytest.mark.integration


def test_conformance_page_is_current() -> None:
    assert page.PAGE.read_text("utf-8") == page.page(), HOW


def test_table_of_the_readme_is_current() -> None:
    text = page.README.read_text("utf-8")
    assert page.readme(text) == text, HOW
