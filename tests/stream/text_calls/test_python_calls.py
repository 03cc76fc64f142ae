"""Calls as Python has them: what is read, and what is none."""

from __future__ import annotations

import pytest

from tests.named_rows import each_row
from toolwire.stream.text_calls.python_calls import python_calls
from toolwire.stream.text_calls.reader import Malformed

#: A text -> its calls: name, arguments.
CALLS: dict[str, list[tuple[str, str]]] = {
    "[f()]": [("f", "{}")],
    "f(a=1)\ng(b=2)": [("f", '{"a":1}'), ("g", '{"b":2}')],
    "f(a=1), g()": [("f", '{"a":1}'), ("g", "{}")],
    " [default_api.f(a='x')] ": [("default_api.f", '{"a":"x"}')],
    'f(a=\'it\\\'s \\n "so"\', b="é")': [("f", '{"a":"it\'s \\n \\"so\\"","b":"é"}')],
    "f(a=12345678901234567890, b=-0.10, c=1e5)": [("f", '{"a":12345678901234567890,"b":-0.10,"c":1e5}')],
    "f(é=1,\n  b={'k': [True, None, (1.50,)]})": [("f", '{"é":1,"b":{"k":[true,null,[1.50]]}}')],
}
NONE = [
    "", "[]", "f", "f(1)", "f(*a)", "f(**a)", "f(a=b)", "f(a=g())", "f(a=1+1)", "f(a=0x10)", "f(a=1_0)", "f(a=...)",
    "f(a=b'x')", "f(a={1: 2})", "f(a={**b})", "import os", "x = f()", "f(a=1) if x else g()", "f()()", "f(a='",
    "f(a=1j)", "[" * 500 + "]" * 500, "f(a=" + "-" * 90_000 + "1)", "f(a='" + "x" * 100_000 + "')", "f(a='\ud83d')",
    "f(a=1, a=2)",
]  # fmt: skip


@pytest.mark.parametrize("source", CALLS)
def test_calls(source: str) -> None:
    assert [(call.name, call.arguments) for call in python_calls(source)] == CALLS[source]


@each_row("source", NONE)
def test_anything_else_is_malformed(source: str) -> None:
    with pytest.raises(Malformed):
        python_calls(source)
