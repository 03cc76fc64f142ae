"""The items of a response's output as JSON, and their ids."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolwire.conversation.tool_call_ids import base62
from toolwire.model.source import Members
from toolwire.wire.json import dump, is_object, write_array, write_object
from toolwire.wire.openai_client_tools import CALLS, call_members
from toolwire.wire.openai_responses import SEARCH_CALL, is_own_id

#: Item type -> the prefix of its ids (`is_own_id` knows them).
_PREFIXES = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "tool_search_call": "tsc",
    "local_shell_call": "lsh",
    "shell_call": "sh",
    "apply_patch_call": "apc",
    "computer_call": "cu",
}

#: The characters of a response's id that its items' ids repeat, so that these stay within the 64 characters that
#: clients expect.
_TOKEN = re.compile(r"resp_([A-Za-z0-9_-]{1,48})")


def item_id(kind: str, response_id: str, index: int) -> str:
    """The id of the item at this output index. It is always the same."""
    return f"{_PREFIXES[kind]}_{token_of(response_id)}_{index}"


def token_of(response_id: str) -> str:
    """The part of a response's id that its items' ids repeat."""
    match = _TOKEN.fullmatch(response_id)
    return match[1] if match else base62(response_id.encode("utf-8", "surrogatepass"), 24)


def answer_of(id: str) -> tuple[str, int] | None:
    """The answer with the item of this id, and the item's output index; None for an id that is not ours."""
    if not is_own_id(id):
        return None
    _, _, rest = id.partition("_")
    token, _, index = rest.rpartition("_")
    return f"resp_{token}", int(index)


def text_content(text: str, refusal: bool) -> bytes:
    """One part of a message's content."""
    if refusal:
        return dump({"type": "refusal", "refusal": text})
    return dump({"type": "output_text", "text": text, "annotations": [], "logprobs": []})


def message_item(id: str, status: str, contents: Iterable[bytes]) -> bytes:
    """A message with these parts, raw."""
    head = dump({"type": "message", "id": id, "status": status, "role": "assistant"})
    return head[:-1] + b',"content":' + write_array(contents) + b"}"


def reasoning_item(id: str, status: str, texts: Iterable[str], signature: str | None) -> bytes:
    """An item of reasoning. Readable text is its summary, which clients show. `encrypted_content` is state that clients
    send back."""
    item: dict[str, object] = {"type": "reasoning", "id": id, "status": status}
    item["summary"] = [{"type": "summary_text", "text": text} for text in texts]
    if signature is not None:
        item["encrypted_content"] = signature
    return dump(item)


def call_item(
    kind: str, id: str, status: str, call_id: str, name: tuple[str | None, str], text: str, extra: Members
) -> bytes:
    """A call. `name` is (namespace or None, name). The arguments are an object for a search for tools, and for a tool
    whose calls have their own type of item."""
    if kind in CALLS:
        head = {"type": dump(kind), "id": dump(id), "status": dump(status), "call_id": dump(call_id)}
        return write_object((head | dict(call_members(kind, text)) | dict(extra)).items())
    if kind == SEARCH_CALL:
        arguments = text.encode("utf-8", "backslashreplace") if is_object(text) else dump(text) if text else b"{}"
        searched = {"type": kind, "id": id, "status": status, "call_id": call_id, "execution": "client"}
        return write_object([*((name, dump(value)) for name, value in searched.items()), ("arguments", arguments)])
    member = "input" if kind == "custom_tool_call" else "arguments"
    item: dict[str, object] = {"type": kind, "id": id, "status": status, "call_id": call_id, "name": name[1]}
    if name[0] is not None:
        item["namespace"] = name[0]
    item[member] = text
    return write_object([*((name, dump(value)) for name, value in item.items()), *extra])
