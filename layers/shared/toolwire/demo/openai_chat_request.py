"""OpenAI Chat Completions, the request: refuses what the real API refuses, and reads what the script needs.

Sources: OpenAI's API reference and its published OpenAPI document; the 40-character limit of ids and the pairing of
calls and results are the live API's. Fields that change nothing here (sampling, metadata, ...) are not looked at.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from toolwire.demo.answer import RefusedError
from toolwire.demo.last_words import Spoken, last_words
from toolwire.demo.script import Asked, DemoTool, stop_sequences

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES = ("developer", "system", "user", "assistant", "tool", "function")
_USER_PARTS = ("text", "image_url", "input_audio", "file")
_MOST_TOOLS = 128
_MOST_ID_CHARS = 40


def read_request(body: Any, *, model: str, strict: bool) -> Asked:
    """Checks a parsed request body for the host that serves `model`. Raises RefusedError. `strict` adds the limits that
    OpenAI has and compatible hosts have not."""
    if not isinstance(body, dict):
        raise RefusedError(400, "The body must be a JSON object.")
    asked_model = body.get("model")
    if not isinstance(asked_model, str) or not asked_model:
        raise _missing("model")
    if asked_model != model:
        message = f"The model '{asked_model[:100]}' does not exist here; this host serves '{model}'."
        raise RefusedError(404, message, code="model_not_found")
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise _missing("messages")
    if not messages:
        raise RefusedError(400, "At least one message is needed.", param="messages", code="empty_array")
    for position, message in enumerate(messages):
        _check_message(message, f"messages.[{position}]", strict)
    _check_pairs(messages)
    _check_stream_options(body)
    if body.get("n") not in (None, 1):
        raise RefusedError(400, "The demo writes one choice.", param="n")
    tools = _tools(body, strict)
    choice, allowed = _tool_choice(body, tools)
    return Asked(
        last_words([_spoken(message) for message in messages]),
        tools=tools,
        choice=choice,
        allowed=allowed,
        parallel=body.get("parallel_tool_calls") is not False,
        max_tokens=_output_limit(body),
        stop=stop_sequences(body.get("stop")),
        answer_schema=_answer_schema(body),
    )


def forces_one_tool(body: dict[str, Any]) -> bool:
    """Whether `tool_choice` names one tool: OpenAI then finishes with "stop"."""
    choice = body.get("tool_choice")
    return isinstance(choice, dict) and choice.get("type") in ("function", "custom")


def _check_message(message: Any, path: str, strict: bool) -> None:
    if not isinstance(message, dict):
        raise RefusedError(400, f"{path} must be an object.", param=path, code="invalid_type")
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES:
        text = f"{path}.role must be one of {', '.join(_ROLES)}."
        raise RefusedError(400, text, param=f"{path}.role", code="invalid_value")
    calls = message.get("tool_calls")
    has_other = role == "assistant" and (calls or message.keys() & {"function_call", "refusal", "audio"})
    if isinstance(content, list):
        _check_parts(content, role, f"{path}.content")
    elif not isinstance(content, str) and not (content is None and (has_other or role == "function")):
        text = f"{path}.content must be text or an array of parts."
        raise RefusedError(400, text, param=f"{path}.content", code="invalid_type")
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        raise _missing(f"{path}.tool_call_id")
    if calls is not None:
        _check_calls(calls, f"{path}.tool_calls", strict)


def _check_parts(parts: list[Any], role: str, path: str) -> None:
    legal = {"user": _USER_PARTS, "assistant": ("text", "refusal")}.get(role, ("text",))
    if not parts:
        raise RefusedError(400, f"{path} must not be empty.", param=path, code="empty_array")
    for position, part in enumerate(parts):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in legal:
            message = f"{path}.[{position}].type must be one of {', '.join(legal)} in a {role} message."
            raise RefusedError(400, message, param=f"{path}.[{position}].type", code="invalid_value")
        if kind == "text" and not isinstance(part.get("text"), str):
            raise _missing(f"{path}.[{position}].text")


def _check_calls(calls: Any, path: str, strict: bool) -> None:
    if not isinstance(calls, list) or not calls:
        raise RefusedError(400, f"{path} must be an array of at least one call.", param=path, code="empty_array")
    for position, call in enumerate(calls):
        at = f"{path}.[{position}]"
        if not isinstance(call, dict) or call.get("type") not in ("function", "custom"):
            raise RefusedError(400, f"{at}.type must be function or custom.", param=f"{at}.type", code="invalid_value")
        identity, kind = call.get("id"), call["type"]
        if not isinstance(identity, str) or not identity:
            raise _missing(f"{at}.id")
        if strict and len(identity) > _MOST_ID_CHARS:
            message = f"{at}.id has {len(identity)} characters; the maximum is {_MOST_ID_CHARS}."
            raise RefusedError(400, message, param=f"{at}.id", code="string_above_max_length")
        named, text = call.get(kind), "arguments" if kind == "function" else "input"
        if not isinstance(named, dict) or not isinstance(named.get("name"), str):
            raise _missing(f"{at}.{kind}.name")
        if not isinstance(named.get(text), str):
            raise RefusedError(
                400, f"{at}.{kind}.{text} must be a string.", param=f"{at}.{kind}.{text}", code="invalid_type"
            )


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    """Every call is answered once, by the tool messages that follow it at once, and nothing else is answered."""
    open_ids: list[str] = []
    for position, message in enumerate(messages):
        path = f"messages.[{position}]"
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_ids:
                text = f"{path} has role 'tool' but answers no tool call of the assistant message before it."
                raise RefusedError(400, text, param=f"{path}.role")
            open_ids.remove(message["tool_call_id"])
            continue
        _check_answered(open_ids, path)
        open_ids = [call["id"] for call in message.get("tool_calls") or []]
    _check_answered(open_ids, f"messages.[{len(messages)}]")


def _check_answered(open_ids: list[str], path: str) -> None:
    if open_ids:
        ids = ", ".join(open_ids)
        message = f"A message with 'tool_calls' needs a tool message for each call; these have none: {ids}"
        raise RefusedError(400, message, param=f"{path}.role")


def _check_stream_options(body: dict[str, Any]) -> None:
    options = body.get("stream_options")
    if options is not None and body.get("stream") is not True:
        raise RefusedError(400, "'stream_options' is only allowed with 'stream': true.", param="stream_options")
    if options is not None and not isinstance(options, dict):
        raise RefusedError(400, "'stream_options' must be an object.", param="stream_options", code="invalid_type")


def _tools(body: dict[str, Any], strict: bool) -> tuple[DemoTool, ...]:
    tools = body.get("tools")
    if tools is None:
        if body.get("parallel_tool_calls") is not None and strict:
            message = "'parallel_tool_calls' is only allowed when 'tools' are specified."
            raise RefusedError(400, message, param="parallel_tool_calls")
        return ()
    if not isinstance(tools, list) or not tools:
        raise RefusedError(400, "'tools' must be an array of at least one tool.", param="tools", code="empty_array")
    if strict and len(tools) > _MOST_TOOLS:
        message = f"'tools' has {len(tools)} items; the maximum is {_MOST_TOOLS}."
        raise RefusedError(400, message, param="tools", code="array_above_max_length")
    return tuple(_tool(tool, f"tools.[{position}]") for position, tool in enumerate(tools))


def _tool(tool: Any, path: str) -> DemoTool:
    kind = tool.get("type") if isinstance(tool, dict) else None
    if kind not in ("function", "custom"):
        raise RefusedError(400, f"{path}.type must be function or custom.", param=f"{path}.type", code="invalid_value")
    definition = tool.get(kind)
    name = definition.get("name") if isinstance(definition, dict) else None
    if not isinstance(name, str):
        raise _missing(f"{path}.{kind}.name")
    if not _NAME.fullmatch(name):
        message = f"{path}.{kind}.name must match ^[a-zA-Z0-9_-]{{1,64}}$."
        raise RefusedError(400, message, param=f"{path}.{kind}.name", code="invalid_value")
    schema = definition.get("parameters") or {"type": "object", "properties": {}}
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        message = f"The parameters of function '{name}' must be a JSON Schema of type object."
        raise RefusedError(400, message, param=f"{path}.function.parameters", code="invalid_function_parameters")
    return DemoTool(name, str(definition.get("description") or ""), schema, custom=kind == "custom")


def _tool_choice(
    body: dict[str, Any], tools: tuple[DemoTool, ...]
) -> tuple[Literal["auto", "none", "required"], frozenset[str] | None]:
    choice = body.get("tool_choice")
    if choice is None:
        return "auto", None
    if not tools:
        raise RefusedError(400, "'tool_choice' is only allowed when 'tools' are specified.", param="tool_choice")
    match choice:
        case "auto" | "none" | "required":
            return choice, None
        case {"type": "function", "function": {"name": str(name)}} | {"type": "custom", "custom": {"name": str(name)}}:
            return "required", _known([name], tools)
        case {"type": "allowed_tools", "allowed_tools": {"mode": ("auto" | "required") as mode, "tools": [*allowed]}}:
            names = [one.get(one.get("type"), {}).get("name") for one in allowed if isinstance(one, dict)]
            return mode, _known(names, tools)
    raise RefusedError(400, "'tool_choice' has none of its known forms.", param="tool_choice", code="invalid_value")


def _known(names: list[Any], tools: tuple[DemoTool, ...]) -> frozenset[str]:
    declared = {tool.name for tool in tools}
    if unknown := [name for name in names if name not in declared]:
        message = f"Tool choice {unknown[0]!r} is not among 'tools'."
        raise RefusedError(400, message, param="tool_choice", code="invalid_value")
    return frozenset(names)


def _output_limit(body: dict[str, Any]) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        limit = body.get(name)
        if limit is not None:
            if not isinstance(limit, int) or limit < 1:
                raise RefusedError(
                    400, f"'{name}' must be an integer of at least 1.", param=name, code="integer_below_min_value"
                )
            return limit
    return None


def _answer_schema(body: dict[str, Any]) -> Any:
    match body.get("response_format"):
        case {"type": "json_object"}:
            return {"type": "object", "properties": {"answer": {"type": "string"}}}
        case {"type": "json_schema", "json_schema": {"schema": dict(schema)}}:
            return schema
    return None


def _spoken(message: dict[str, Any]) -> Spoken:
    texts = _texts(message.get("content"))
    if message["role"] in ("tool", "function"):
        return Spoken("tool", results=("\n".join(texts),))
    content = message.get("content")
    files = isinstance(content, list) and any(part["type"] != "text" for part in content)
    return Spoken(message["role"], texts, files=files)


def _texts(content: Any) -> tuple[str, ...]:
    """The texts of a content that is text or an array of parts."""
    if isinstance(content, list):
        return tuple(part["text"] for part in content if part.get("type") == "text")
    return (content,) if isinstance(content, str) else ()


def _missing(path: str) -> RefusedError:
    return RefusedError(400, f"Missing required parameter: '{path}'.", param=path, code="missing_required_parameter")
