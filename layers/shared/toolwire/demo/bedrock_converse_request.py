"""Bedrock's Converse, the request: refuses what the real API refuses, and reads what the script needs.

Sources: the API reference of Converse, botocore's model of it, and what the live API was seen to refuse: tool blocks
without a toolConfig, results apart from their calls, empty texts, an empty description. Fields that change nothing here
(requestMetadata, performanceConfig, ...) are not looked at.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from toolwire.demo.answer import RefusedError
from toolwire.demo.last_words import Spoken, last_words
from toolwire.demo.script import Asked, DemoTool, stop_sequences

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_BLOCKS = {
    "user": ("text", "image", "document", "toolResult", "cachePoint", "guardContent"),
    "assistant": ("text", "toolUse", "reasoningContent", "cachePoint"),
}
_RESULT_BLOCKS = ("text", "json", "image", "document")
_IMAGES = ("png", "jpeg", "gif", "webp")
_TOO_OPEN = ("oneOf", "allOf", "anyOf")


def read_request(body: Any) -> Asked:
    """Checks a parsed request body. Raises RefusedError."""
    if not isinstance(body, dict):
        raise _refused("The body must be a JSON object.")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _refused("A conversation must start with a user message.")
    for position, message in enumerate(messages):
        _check_message(message, f"messages.{position}")
    config = body.get("toolConfig")
    tools, choice, allowed = _tool_config(config)
    _check_order(messages, has_tools=config is not None)
    for position, block in enumerate(body.get("system") or []):
        _check_block(block, ("text", "cachePoint", "guardContent"), f"system.{position}")
    limit = _inference(body.get("inferenceConfig"))
    return Asked(
        last_words([_spoken(message) for message in messages]),
        tools=tools,
        choice=choice,
        allowed=allowed,
        parallel=_parallel(body.get("additionalModelRequestFields")),
        max_tokens=limit,
        stop=stop_sequences((body.get("inferenceConfig") or {}).get("stopSequences")),
        answer_schema=_answer_schema(body.get("outputConfig")),
    )


def shows_reasoning(body: dict[str, Any]) -> bool:
    """Whether the answer begins with reasoning."""
    match body.get("additionalModelRequestFields"):
        case {"thinking": {"type": "enabled" | "adaptive"}}:
            return True
    return False


# ---------------------------------------------------------------- messages


def _check_message(message: Any, path: str) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in _BLOCKS:
        raise _refused(f"{path}.role: must be one of user, assistant")
    content = message.get("content")
    if not isinstance(content, list) or not content:
        raise _refused(f"The content field in the Message object at {path} is empty.")
    for position, block in enumerate(content):
        _check_block(block, _BLOCKS[role], f"{path}.content.{position}")


def _check_block(block: Any, legal: tuple[str, ...], path: str) -> None:
    if not isinstance(block, dict) or len(block) != 1:
        raise _refused(f"{path}: exactly one member of the union must be set")
    kind = next(iter(block))
    if kind not in legal:
        raise _refused(f"{path}: must be one of {', '.join(legal)}")
    match kind:
        case "text" if not isinstance(block["text"], str) or not block["text"].strip():
            raise _refused(f"The text field in the ContentBlock object at {path} is blank.")
        case "image":
            _check_image(block["image"], path)
        case "toolUse":
            _check_call(block["toolUse"], path)
        case "toolResult":
            _check_result(block["toolResult"], path)
        case "reasoningContent":
            _check_reasoning(block["reasoningContent"], path)


def _check_image(image: Any, path: str) -> None:
    match image:
        case {"format": str(form), "source": {"bytes": str()}} if form in _IMAGES:
            return
    raise _refused(f"{path}.image: needs a format ({', '.join(_IMAGES)}) and source.bytes")


def _check_call(call: Any, path: str) -> None:
    match call:
        case {"toolUseId": str(identity), "name": str(name), "input": dict()}:
            if not _ID.fullmatch(identity) or not _NAME.fullmatch(name):
                raise _refused(f"{path}.toolUse: toolUseId or name fails its pattern")
            return
    raise _refused(f"The format of the value at {path}.toolUse.input is invalid. Provide a json object.")


def _check_result(result: Any, path: str) -> None:
    match result:
        case {"toolUseId": str(), "content": list(content)} if content:
            for position, inner in enumerate(content):
                _check_block(inner, _RESULT_BLOCKS, f"{path}.toolResult.content.{position}")
            return
    raise _refused(f"{path}.toolResult.content: cannot be empty")


def _check_reasoning(reasoning: Any, path: str) -> None:
    match reasoning:
        case {"reasoningText": {"text": str(), "signature": str(proof)}} if proof:
            return
        case {"redactedContent": str()}:
            return
    raise _refused(f"{path}.reasoningContent.reasoningText.signature: Field required")


def _check_order(messages: list[dict[str, Any]], *, has_tools: bool) -> None:
    """A user's message first, turns in alternation, every call answered in the message behind it."""
    if messages[0]["role"] != "user":
        raise _refused("A conversation must start with a user message. Try again with a conversation that does.")
    waiting: list[str] = []
    role = ""
    for position, message in enumerate(messages):
        if message["role"] == role:
            raise _refused(f"messages.{position}: roles must alternate between user and assistant.")
        role = message["role"]
        results = [block["toolResult"]["toolUseId"] for block in message["content"] if "toolResult" in block]
        calls = [block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block]
        if (calls or results) and not has_tools:
            raise _refused("The toolConfig field must be defined when using toolUse and toolResult content blocks.")
        if len(results) > len(waiting) or any(identity not in waiting for identity in results):
            raise _refused(
                f"The number of toolResult blocks at messages.{position}.content exceeds the number of toolUse blocks "
                "of previous turn."
            )
        if missing := [identity for identity in waiting if identity not in results]:
            raise _refused(f"Expected toolResult blocks at messages.{position}.content for: {', '.join(missing)}")
        waiting = calls
    if waiting:
        raise _refused(f"Expected toolResult blocks for: {', '.join(waiting)}")
    if role == "assistant":
        raise _refused("This model does not support assistant message prefill.")


def _spoken(message: dict[str, Any]) -> Spoken:
    blocks = message["content"]
    results = [block["toolResult"]["content"] for block in blocks if "toolResult" in block]
    return Spoken(
        message["role"],
        tuple(block["text"] for block in blocks if "text" in block),
        tuple("\n".join(inner["text"] for inner in content if "text" in inner) for content in results),
        any(block.keys() & {"image", "document"} for block in blocks),
    )


# ---------------------------------------------------------------- tools and settings


def _tool_config(
    config: Any,
) -> tuple[tuple[DemoTool, ...], Literal["auto", "none", "required"], frozenset[str] | None]:
    if config is None:
        return (), "auto", None
    entries = config.get("tools") if isinstance(config, dict) else None
    if not isinstance(entries, list) or not entries:
        raise _refused("toolConfig.tools: must have at least one entry")
    tools = tuple(
        _tool(entry, f"toolConfig.tools.{n}") for n, entry in enumerate(entries) if entry.keys() != {"cachePoint"}
    )
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise _refused("toolConfig.tools: tool names must be unique")
    match config.get("toolChoice"):
        case None | {"auto": {}}:
            return tools, "auto", None
        case {"any": {}}:
            return tools, "required", None
        case {"tool": {"name": str(name)}} if name in names:
            return tools, "required", frozenset([name])
    raise _refused("toolConfig.toolChoice: must be auto, any, or a tool of the request")


def _tool(entry: Any, path: str) -> DemoTool:
    spec = entry.get("toolSpec") if isinstance(entry, dict) else None
    if not isinstance(spec, dict):
        raise _refused(f"{path}: the demo has no system tools")
    name, description = spec.get("name"), spec.get("description", "-")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _refused(f"{path}.toolSpec.name: fails the pattern [a-zA-Z0-9_-]+")
    if not isinstance(description, str) or not description:
        raise _refused(f"{path}.toolSpec.description: must have at least one character")
    match spec.get("inputSchema"):
        case {"json": {"type": "object", **rest} as schema}:
            if any(word in rest for word in _TOO_OPEN):
                raise _refused(f"{path}.toolSpec.inputSchema.json: no oneOf, allOf or anyOf at the top level")
            return DemoTool(name, description, schema)
    raise _refused(f"{path}.toolSpec.inputSchema.json.type must be one of the following: object.")


def _parallel(fields: Any) -> bool:
    match fields:
        case {"tool_choice": {"disable_parallel_tool_use": True}}:
            return False
    return True


def _inference(config: Any) -> int | None:
    if config is None:
        return None
    limit = config.get("maxTokens")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise _refused("inferenceConfig.maxTokens: must be at least 1")
    temperature = config.get("temperature")
    if temperature is not None and not 0 <= temperature <= 1:
        raise _refused("inferenceConfig.temperature: must be between 0 and 1")
    return limit if isinstance(limit, int) else None


def _answer_schema(config: Any) -> Any:
    match config:
        case {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"schema": str(schema)}}}}:
            try:
                return json.loads(schema)
            except ValueError:
                raise _refused("outputConfig.textFormat.structure.jsonSchema.schema: must be valid JSON") from None
        case {"textFormat": _}:
            raise _refused("outputConfig.textFormat: must be a json_schema with its schema as text")
    return None


def _refused(message: str) -> RefusedError:
    return RefusedError(400, message)
