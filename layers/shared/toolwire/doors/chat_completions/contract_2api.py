"""Adds to a JSON answer with calls what the reference document 2api asks for (5.2 and 5.5). Only under the preset
`2api`.

Streams have the calls' indexes anyway, and the reference document shows its warning only in a JSON answer.
"""

from __future__ import annotations

from toolwire.wire.json import dump, elements, members, write_array, write_object

#: The warning, word for word.
_WARNING = "Response contains tool_calls. Client must execute tools and send results to continue conversation."


def with_contract_2api(body: bytes) -> bytes:
    """The answer with an `index` in each call, and the warning that the client must execute them. All else stays."""
    top = members(body)
    choice = members(elements(top["choices"])[0])
    message = members(choice["message"])
    if "tool_calls" in message:  # a deprecated `function_call` has no place for an index
        calls = (members(call) for call in elements(message["tool_calls"]))
        numbered = (write_object([("index", dump(at)), *call.items()]) for at, call in enumerate(calls))
        message["tool_calls"] = write_array(numbered)
        choice["message"] = write_object(message.items())
        top["choices"] = write_array([write_object(choice.items())])
    return write_object([*top.items(), ("_2api", dump({"warning": _WARNING}))])
