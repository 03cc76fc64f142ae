"""Every fault of a value under a schema, by jsonschema: where jsonschema_rs stops at the first, this goes on.

It explains what jsonschema_rs has refused. It decides nothing: a value in which it finds no fault is refused all the
same. It is imported only where something is to be explained (110 ms).

Schemas come from clients. jsonschema runs patterns in Python's engine, which has no bound, so a client's pattern is
never run here: the keywords that have one are left out. So is `uniqueItems`, which may compare all pairs. Nothing is
fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

#: The most faults that are told of one value.
MOST = 8

#: The keyword of a fault under the schema `false`, which has none: the name that jsonschema-rs gives it.
FALSE = "falseSchema"

#: Keywords that run a client's pattern, or whose work is not linear.
_LEFT_OUT = ("pattern", "patternProperties", "unevaluatedProperties", "uniqueItems")

#: The most digits of a number that is made an integer: `1e999999` has a million.
_DIGITS = 64


class Explained(NamedTuple):
    """A fault: the steps to the value at fault, the keyword that it breaks, and the value at fault. `wanted`: the
    keyword's own value; of `required` the names that are missing, of `additionalProperties` those that are too many.
    """

    path: tuple[str | int, ...]
    keyword: str
    wanted: Any
    value: Any


def faults_of_value(schema: bytes, text: str, draft: int) -> list[Explained]:
    """The faults of the JSON text under a valid schema of this draft, at most `MOST`."""
    validator = _validator(draft)
    return _faults(validator, _parsed(schema), _parsed(text))


def faults_of_schema(schema: bytes, draft: int) -> list[Explained]:
    """The faults of a schema under the meta-schema of its draft, at most `MOST`. No pattern of the schema is run: to
    the meta-schema it is a string."""
    validator = _drafts()[draft]
    return _faults(validator, validator.META_SCHEMA, _parsed(schema))


def _faults(validator: Any, schema: Any, value: Any) -> list[Explained]:
    from jsonschema.exceptions import best_match
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable

    # The registry has the meta-schemas. jsonschema's own default would fetch what it lacks.
    found: Iterator[Any] = validator(schema, registry=REGISTRY).iter_errors(value)
    try:
        # Of `anyOf` and `oneOf`, the fault under the schema that fits best.
        leaves = [best_match([error]) for error in islice(found, MOST)]
    except (ArithmeticError, RecursionError, Unresolvable):
        return []
    return [
        Explained(tuple(leaf.absolute_path), leaf.validator or FALSE, _wanted(leaf), leaf.instance) for leaf in leaves
    ]


def _wanted(fault: Any) -> Any:
    wanted, value = fault.validator_value, fault.instance
    if fault.validator == "required" and isinstance(wanted, list) and isinstance(value, dict):
        return [name for name in wanted if name not in value]
    if fault.validator == "additionalProperties" and isinstance(value, dict):
        return [name for name in value if name not in fault.schema.get("properties", {})]
    return wanted


@cache
def _drafts() -> dict[int, Any]:
    import jsonschema

    return {
        4: jsonschema.Draft4Validator,
        6: jsonschema.Draft6Validator,
        7: jsonschema.Draft7Validator,
        2019: jsonschema.Draft201909Validator,
        2020: jsonschema.Draft202012Validator,
    }


@cache
def _validator(draft: int) -> Any:
    """jsonschema's validator of the draft, without the keywords that a client could make it wait with."""
    from jsonschema.validators import extend

    whole = _drafts()[draft]
    closed = whole.VALIDATORS["additionalProperties"]

    def additional(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
        return iter(()) if "patternProperties" in schema else closed(validator, wanted, instance, schema)

    return extend(whole, dict.fromkeys(_LEFT_OUT, _nothing) | {"additionalProperties": additional})


def _nothing(*_: Any) -> Iterator[Any]:
    return iter(())


def _parsed(text: bytes | str) -> Any:
    return json.loads(text, parse_float=_number)


def _number(text: str) -> Decimal | int:
    """A number as it is written. `3.0` is an integer, which jsonschema knows of floats alone."""
    number = Decimal(text)
    whole = number == number.to_integral_value() if number.adjusted() < _DIGITS else False
    return int(number) if whole else number
