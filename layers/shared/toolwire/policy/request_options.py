"""Reads a client's options for the gateway from headers. The native door has the same options as body members.

    x-toolwire-validate-tool-arguments   off | annotate | reject (true is reject, false is off)
    x-toolwire-schema-mode               convert | reject | lossy
    x-toolwire-recover-text-calls        on | off
    x-toolwire-repair-arguments          on | off
    x-toolwire-events                    standard | extended
    x-toolwire-fallback                  models, or off: read by `exchange.plan`
    x-toolwire-total-seconds, ...        read by `exchange.time_limits`

No provider gets them. An unknown name or value is refused: otherwise a mistyped option would go unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from toolwire.model.errors import RequestError
from toolwire.model.nearest_word import did_you_mean
from toolwire.model.request import RequestOptions

_PREFIX = "x-toolwire-"

#: The mark on the gateway's own requests.
_HOP = "x-toolwire-hop"
#: Headers of this prefix that are read elsewhere: where a request may go, and how long it may take.
_NOT_OPTIONS = (
    "x-toolwire-fallback",
    "x-toolwire-first-byte-seconds",
    "x-toolwire-idle-seconds",
    "x-toolwire-total-seconds",
)

_SWITCH = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}

#: Header -> field of `RequestOptions`, and what each value means.
_OPTIONS: dict[str, tuple[str, dict[str, object]]] = {
    "x-toolwire-validate-tool-arguments": (
        "validate_tool_arguments",
        {"off": "off", "annotate": "annotate", "reject": "reject", "true": "reject", "false": "off"},
    ),
    "x-toolwire-schema-mode": ("schema_mode", {"convert": "convert", "reject": "reject", "lossy": "lossy"}),
    "x-toolwire-recover-text-calls": ("recover_text_calls", dict[str, object](_SWITCH)),
    "x-toolwire-repair-arguments": ("repair_arguments", dict[str, object](_SWITCH)),
    "x-toolwire-events": ("extended_events", {"standard": False, "extended": True}),
}


def read_body_options(raw: bytes) -> RequestOptions:
    """The options of a Chat request under the reference document 2api (section 7.3): its member `request_options`. Its
    names are the headers' without their prefix. Raises RequestError, code `invalid_option`."""
    try:
        given = msgspec.json.decode(raw, type=dict[str, bool | str])
    except msgspec.DecodeError:
        message = "`request_options` must be an object of option names and their values"
        raise RequestError(message, code="invalid_option", param="request_options") from None
    headers = {header.removeprefix(_PREFIX).replace("-", "_"): header for header in _OPTIONS}
    fields: dict[str, Any] = {}
    for name, value in given.items():
        path = f"request_options.{name[:80]}"
        if name not in headers:
            raise _unknown(name, path, headers)
        field, meanings = _OPTIONS[headers[name]]
        fields[field] = _meaning(str(value), meanings, path, f"`{path}`")
    return RequestOptions(**fields)


def read_options(headers: Mapping[str, str]) -> RequestOptions:
    """The options in a request's headers (names in lower case). Raises RequestError, code `invalid_option`, that names
    the header, what was there, and what may be."""
    fields: dict[str, Any] = {}
    for name, text in headers.items():
        if not name.startswith(_PREFIX) or name in _NOT_OPTIONS or name == _HOP:
            continue
        if name not in _OPTIONS:
            raise _unknown(name, name, (*_OPTIONS, *_NOT_OPTIONS))
        field, meanings = _OPTIONS[name]
        fields[field] = _meaning(text, meanings, name, f"the header `{name}`")
    return RequestOptions(**fields)


def _meaning(text: str, meanings: dict[str, object], param: str, what: str) -> object:
    value = text.strip().lower()
    if value not in meanings:
        message = f"{what} is {text[:80]!r}; write one of: {', '.join(meanings)}"
        raise RequestError(message, code="invalid_option", param=param)
    return meanings[value]


def _unknown(name: str, param: str, known: Iterable[str]) -> RequestError:
    known = list(known)
    message = f"There is no option {name[:80]!r}.{did_you_mean(name[:80], known)} Known: {', '.join(known)}."
    return RequestError(message, code="invalid_option", param=param)
