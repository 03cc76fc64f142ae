"""Anthropic Messages, the request: refuses what the real API refuses, and reads what the script needs.

Sources: Anthropic's API reference and SDK types; the pairing of calls and results, the empty texts and the root of
input schemas are the live API's. Fields that change nothing here (metadata, cache_control, ...) are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from toolwire.demo.answer import RefusedError
from toolwire.demo.last_words import Spoken, last_words
from toolwire.demo.script import Asked, DemoTool, stop_sequences

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_VERSIONS = ("2023-06-01", "2026-10-21")
_SAMPLING = ("temperature", "top_p", "top_k")
_BLOCKS = {
    "user": ("text", "image", "document", "search_result", "tool_result"),
    "assistant": ("text", "tool_use", "thinking", "redacted_thinking"),
    "system": ("text",),
}
_RESULT_BLOCKS = ("text", "image", "document", "search_result", "tool_reference")
#: The types of Anthropic's own tools, and those that a client runs all the same.
_OWN_TOOL = re.compile(r"([a-z_]+)_20\d{6}")
_RUN_BY_CLIENTS = ("bash", "text_editor", "memory", "computer")
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_UNROOTED = ("oneOf", "allOf", "anyOf")


def read_request(body: Any, headers: Mapping[str, str], *, model: str) -> Asked:
    """Checks a parsed request body, and its headers (names in lower case). Raises RefusedError."""
    version = headers.get("anthropic-version")
    if version not in _VERSIONS:
        raise _refused(f"anthropic-version: header is required, one of {', '.join(_VERSIONS)}")
    if not isinstance(body, dict):
        raise _refused("The body must be a JSON object.")
    if body.get("model") != model:
        raise RefusedError(404, f"model: {str(body.get('model'))[:100]}")
    if version != _VERSIONS[0] and (sent := [name for name in _SAMPLING if name in body]):
        raise _refused(f"{sent[0]}: Extra inputs are not permitted")
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or limit < 1:
        raise _refused("max_tokens: Field required, an integer of at least 1")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _refused("messages: at least one message is required")
    for position, message in enumerate(messages):
        _check_message(message, f"messages.{position}")
    _check_order(messages)
    _check_system(body.get("system"))
    read = [_tool(tool, f"tools.{position}") for position, tool in enumerate(body.get("tools") or [])]
    tools = tuple(tool for tool in read if tool is not None)
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise _refused("tools: Tool names must be unique.")
    choice, allowed, parallel = _tool_choice(body.get("tool_choice"), names)
    _check_thinking(body.get("thinking"), limit, forced=choice == "required")
    return Asked(
        last_words([_spoken(message) for message in messages]),
        tools=tools,
        choice=choice,
        allowed=allowed,
        parallel=parallel,
        max_tokens=limit,
        stop=stop_sequences(body.get("stop_sequences")),
        answer_schema=_answer_schema(body.get("output_config")),
    )


def shows_thinking(body: Mapping[str, Any]) -> bool:
    """Whether the answer begins with thinking."""
    thinking = body.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive")


# ---------------------------------------------------------------- messages


def _check_message(message: Any, path: str) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in _BLOCKS:
        raise _refused(f"{path}.role: Input should be one of {', '.join(_BLOCKS)}")
    content = message.get("content")
    if isinstance(content, str):
        if not content.strip():
            raise _refused(f"{path}: text content blocks must be non-empty")
        return
    if not isinstance(content, list) or not content:
        raise _refused(f"{path}: all messages must have non-empty content")
    for position, block in enumerate(content):
        _check_block(block, _BLOCKS[role], f"{path}.content.{position}")


def _check_block(block: Any, legal: tuple[str, ...], path: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in legal:
        raise _refused(f"{path}.type: Input should be one of {', '.join(legal)}")
    match block:
        case {"type": "text", "text": str(text)} if text.strip():
            pass
        case {"type": "text"}:
            raise _refused(f"{path}: text content blocks must contain non-whitespace text")
        case {"type": "image", "source": {"type": "base64", "media_type": str(media), "data": str()}}:
            if media not in _IMAGES:
                raise _refused(f"{path}.source.media_type: Input should be one of {', '.join(_IMAGES)}")
        case {"type": "image", "source": {"type": "url", "url": str(url)}} if url.startswith("https://"):
            pass
        case {"type": "image"}:
            raise _refused(f"{path}.source: an image needs base64 data or an https URL")
        case {"type": "tool_use"}:
            _check_call(block, path)
        case {"type": "tool_result"}:
            _check_result(block, path)
        case {"type": "tool_reference"} if not isinstance(block.get("tool_name"), str):
            raise _refused(f"{path}.tool_name: Field required")
        case {"type": "thinking"} if not block.get("signature"):
            raise _refused(f"{path}.signature: Field required")
        case _:
            pass


def _check_call(block: dict[str, Any], path: str) -> None:
    if not isinstance(block.get("id"), str) or not _ID.fullmatch(block["id"]):
        raise _refused(f"{path}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not isinstance(block.get("name"), str) or not _NAME.fullmatch(block["name"]):
        raise _refused(f"{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if not isinstance(block.get("input"), dict):
        raise _refused(f"{path}.input: Input should be an object")


def _check_result(block: dict[str, Any], path: str) -> None:
    if not isinstance(block.get("tool_use_id"), str) or not _ID.fullmatch(block["tool_use_id"]):
        raise _refused(f"{path}.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    content = block.get("content", "")
    if not isinstance(content, str | list):
        raise _refused(f"{path}.content: Input should be text or a list of blocks")
    for position, inner in enumerate(content if isinstance(content, list) else []):
        _check_block(inner, _RESULT_BLOCKS, f"{path}.content.{position}")


def _check_order(messages: list[dict[str, Any]]) -> None:
    """A user's message first; every call answered in the message behind it, before anything else there."""
    if messages[0]["role"] != "user":
        raise _refused('messages: first message must use the "user" role')
    waiting: list[str] = []
    for position, message in enumerate(messages):
        blocks = _blocks(message)
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        path = f"messages.{position}"
        if unknown := [identity for identity in results if identity not in waiting]:
            raise _refused(
                f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: {unknown[0]}. Each `tool_result` "
                "block must have a corresponding `tool_use` block in the previous message."
            )
        first = [block["type"] == "tool_result" for block in blocks[: len(results)]]
        if (missing := [identity for identity in waiting if identity not in results]) or not all(first):
            raise _refused(
                f"{path}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing or results)}."
            )
        if message["role"] == "system" and messages[position - 1]["role"] != "user":
            raise _refused(f"{path}: a system message must follow a user turn")
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if waiting:
        raise _refused(f"messages: `tool_use` ids were found without `tool_result` blocks: {', '.join(waiting)}.")
    if messages[-1]["role"] == "assistant":
        raise _refused("This model does not support assistant message prefill.")


def _check_system(system: Any) -> None:
    if system is None or isinstance(system, str):
        return
    if not isinstance(system, list):
        raise _refused("system: Input should be text or a list of text blocks")
    for position, block in enumerate(system):
        _check_block(block, ("text",), f"system.{position}")


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _spoken(message: dict[str, Any]) -> Spoken:
    blocks = _blocks(message)
    texts = tuple(block["text"] for block in blocks if block["type"] == "text")
    results = tuple(_result_text(block) for block in blocks if block["type"] == "tool_result")
    return Spoken(message["role"], texts, results, any(block["type"] in ("image", "document") for block in blocks))


def _result_text(block: dict[str, Any]) -> str:
    content = block.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(inner["text"] for inner in content if inner["type"] == "text")


# ---------------------------------------------------------------- tools and settings


def _tool(tool: Any, path: str) -> DemoTool | None:
    """A tool that the client runs; None for one that runs at the provider, which the demo knows and never uses."""
    name = tool.get("name") if isinstance(tool, dict) else None
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _refused(f"{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if tool.get("type") not in (None, "custom"):
        own = _OWN_TOOL.fullmatch(str(tool["type"]))
        if own is None:
            raise _refused(
                f"{path}.type: Input tag '{str(tool['type'])[:100]}' does not match any of the expected tags"
            )
        return DemoTool(name, "", {"type": "object"}) if own[1] in _RUN_BY_CLIENTS else None
    schema = tool.get("input_schema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise _refused(f"{path}.custom.input_schema.type: Field required, 'object'")
    if any(word in schema for word in _UNROOTED):
        raise _refused(f"{path}.custom.input_schema: does not support oneOf, allOf, or anyOf at the top level")
    return DemoTool(name, str(tool.get("description") or ""), schema)


def _tool_choice(
    choice: Any, names: list[str]
) -> tuple[Literal["auto", "none", "required"], frozenset[str] | None, bool]:
    if choice is None:
        return "auto", None, True
    if not names:
        raise _refused("tool_choice: may only be specified while providing tools.")
    parallel = isinstance(choice, dict) and choice.get("disable_parallel_tool_use") is not True
    match choice:
        case {"type": "auto"}:
            return "auto", None, parallel
        case {"type": "none"} if len(choice) == 1:
            return "none", None, True
        case {"type": "any"}:
            return "required", None, parallel
        case {"type": "tool", "name": str(name)} if name in names:
            return "required", frozenset([name]), parallel
        case {"type": "tool", "name": str(name)}:
            raise _refused(f"tool_choice: Tool '{name[:100]}' not found in provided tools")
    raise _refused("tool_choice: Input should be one of auto, any, tool, none")


def _check_thinking(thinking: Any, limit: int, *, forced: bool) -> None:
    match thinking:
        case None | {"type": "disabled"} | {"type": "between_tools"}:
            return
        case {"type": "enabled", "budget_tokens": int(budget)} if not 1024 <= budget < limit:
            raise _refused("thinking.enabled.budget_tokens: at least 1024, and less than max_tokens")
        case {"type": "adaptive"} | {"type": "enabled", "budget_tokens": int()}:
            if forced:
                raise _refused("Thinking may not be enabled when tool_choice forces tool use.")
        case _:
            raise _refused("thinking: Input should be one of adaptive, enabled, disabled, between_tools")


def _answer_schema(config: Any) -> Any:
    match config:
        case {"format": {"type": "json_schema", "schema": dict(schema)}}:
            return schema
        case {"format": _}:
            raise _refused("output_config.format: Input should be a json_schema with its schema")
    return None


def _refused(message: str) -> RefusedError:
    return RefusedError(400, message)
