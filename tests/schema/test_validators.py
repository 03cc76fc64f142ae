"""Where the two validators are known to differ, and who is right. jsonschema_rs gives the verdicts; jsonschema, which
only the tests use, reads patterns as Python does and counts in binary floats."""

from __future__ import annotations

from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from tests.named_rows import each_row

UNREADABLE = None


def judged(validator: Any, schema: dict[str, Any], instance: Any) -> bool | None:
    try:
        return bool(validator(schema).is_valid(instance))
    except Exception:  # noqa: BLE001 - each library has its own for a pattern that it cannot read
        return UNREADABLE


#: schema, instance, jsonschema, jsonschema_rs, the standards (ECMA-262 for patterns)
DIFFERENCES = [
    ({"pattern": r"^\p{L}+$"}, "é", UNREADABLE, True, True),
    ({"pattern": r"^(?<name>a)$"}, "a", UNREADABLE, True, True),
    ({"pattern": r"^a\Z"}, "a", True, UNREADABLE, False),  # a plain Z
    ({"pattern": r"^a$"}, "a\n", True, False, False),
    ({"pattern": r"^\d$"}, "٣", True, False, False),
    ({"pattern": r"^\w$"}, "é", True, False, False),
    ({"multipleOf": 0.01}, 0.07, False, True, True),
]


@pytest.mark.parametrize(("schema", "instance", "python", "rust", "standard"), DIFFERENCES)
def test_known_differences(
    schema: dict[str, Any], instance: Any, python: bool | None, rust: bool | None, standard: bool
) -> None:
    assert judged(jsonschema.Draft202012Validator, schema, instance) is python
    assert judged(jsonschema_rs.Draft202012Validator, schema, instance) is rust
    assert rust in (standard, UNREADABLE)


#: What looks as if they might differ.
@each_row(
    ("schema", "instance", "valid"),
    [
        ({"type": "integer"}, 1.0, True),
        ({"const": 1}, True, False),
        ({"enum": [0]}, False, False),
        ({"const": 1}, 1.0, True),
        ({"uniqueItems": True}, [1, True], True),
        ({"maxLength": 1}, "\U0001f600", True),
        ({"minimum": 12345678901234567891}, 12345678901234567890, False),
        ({"format": "email"}, "no address", True),  # an annotation
    ],
)
def test_they_agree(schema: dict[str, Any], instance: Any, valid: bool) -> None:
    for validator in (jsonschema.Draft202012Validator, jsonschema_rs.Draft202012Validator):
        assert judged(validator, schema, instance) is valid
