"""OpenAI Responses, the request: refuses what the real API refuses, and reads what the script needs.

Sources: OpenAI's API reference and its published OpenAPI document; the pairing of calls and outputs, the refusal of
unknown members and of encrypted reasoning that is not its own are the live API's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from toolwire.demo.answer import RefusedError
from toolwire.demo.last_words import Spoken, last_words
from toolwire.demo.script import Asked, DemoTool

#: How the demo's encrypted reasoning begins: what it takes back must be its own.
ENCRYPTED = "gAAAAdemo"

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_MEMBERS = frozenset(
    re.findall(
        r"\w+",
        """access_programs background client_metadata context_management conversation include input instructions
        max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt
        prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store
        stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user""",
    )
)
#: Tools that OpenAI runs itself: the demo knows them and never uses them.
_HOSTED = frozenset({"web_search", "web_search_preview", "file_search", "code_interpreter", "image_generation", "mcp",
                     "local_shell", "shell", "apply_patch", "computer"})  # fmt: skip
#: The search for deferred tools, which the client runs, and its call and output.
SEARCH, SEARCH_CALL, _SEARCH_OUTPUT = "tool_search", "tool_search_call", "tool_search_output"
_ROLES = ("user", "assistant", "system", "developer")
_INPUT_PARTS = ("input_text", "input_image", "input_file")
_SAID_PARTS = ("output_text", "refusal")
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
#: Calls of tools that OpenAI's clients run and the demo never calls: another model's may stand in a history.
_OWN_CALLS = ("local_shell_call", "shell_call", "apply_patch_call", "computer_call")
_OUTPUTS = {f"{kind}_output": kind for kind in (*_CALLS, *_OWN_CALLS)} | {_SEARCH_OUTPUT: SEARCH_CALL}
#: An item that the host keeps, by its id. The demo keeps none and takes it for the model's own.
_REFERENCE = "item_reference"
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_MOST_TOOLS = 128
_MOST_ID_CHARS = 64
_LEAST_OUTPUT = 16


def read_request(body: Any, *, models: tuple[str, ...]) -> Asked:
    """Checks a parsed request body for the host that serves these models. Raises RefusedError."""
    if not isinstance(body, dict):
        raise RefusedError(400, "The body must be a JSON object.")
    for name in body.keys() - _MEMBERS:
        raise RefusedError(400, f"Unknown parameter: '{name}'.", param=name, code="unknown_parameter")
    asked_model = body.get("model")
    if not isinstance(asked_model, str) or not asked_model:
        raise _missing("model")
    if asked_model not in models:
        message = f"The model '{asked_model[:100]}' does not exist here; this host serves '{models[0]}'."
        raise RefusedError(404, message, code="model_not_found")
    items = _items(body)
    _check_pairs(items, partial=_goes_on(body, items))
    _check_reasoning(body)
    tools = tuple(tool for tool, _ in declared(body))
    choice, allowed = _tool_choice(body, tools)
    return Asked(
        last_words([_spoken(item) for item in items]),
        tools=tools,
        choice=choice,
        allowed=allowed,
        parallel=body.get("parallel_tool_calls") is not False,
        max_tokens=_output_limit(body),
        answer_schema=_answer_schema(body),
    )


# ---------------------------------------------------------------- input


def _items(body: dict[str, Any]) -> list[dict[str, Any]]:
    given = body.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if not isinstance(given, list):
        raise _missing("input")
    if not given:
        raise RefusedError(400, "At least one input item is needed.", param="input", code="empty_array")
    for position, item in enumerate(given):
        _check_item(item, f"input[{position}]")
    return given


def _kind(item: dict[str, Any]) -> str:
    """An item's type, which two kinds may leave out."""
    return item.get("type") or ("message" if "role" in item else _REFERENCE)


def _goes_on(body: dict[str, Any], items: list[dict[str, Any]]) -> bool:
    """Whether a part of the conversation is kept at the host: calls that are answered here may stand there."""
    kept = any(body.get(name) is not None for name in ("previous_response_id", "conversation"))
    return kept or any(_kind(item) == _REFERENCE for item in items)


def _check_item(item: Any, path: str) -> None:
    if not isinstance(item, dict):
        raise RefusedError(400, f"{path} must be an object.", param=path, code="invalid_type")
    kind = _kind(item)
    if kind == "message":
        _check_message(item, path)
    elif kind == _REFERENCE:
        _check_text(item, "id", path)
    elif kind in _CALLS:
        _check_call_id(item, path)
        for name in ("name", _CALLS[kind]):
            _check_text(item, name, path)
    elif kind in (SEARCH_CALL, _SEARCH_OUTPUT):
        _check_search(item, path)
    elif kind in _OUTPUTS:
        if _answers(item):
            _check_call_id(item, path)
        _check_content(item.get("output"), _INPUT_PARTS, f"{path}.output")
    elif kind in _OWN_CALLS or kind.removesuffix("_output") in _OWN_CALLS:
        _check_call_id(item, path)
    elif kind == "reasoning":
        _check_reasoned(item, path)
    else:
        raise RefusedError(400, f"Invalid value: '{kind}'.", param=f"{path}.type", code="invalid_value")


def _check_reasoned(item: dict[str, Any], path: str) -> None:
    if not isinstance(item.get("summary"), list):
        raise _missing(f"{path}.summary")
    if not str(item.get("encrypted_content") or "").startswith(ENCRYPTED):
        message = "The encrypted content could not be verified: it could not be decrypted or parsed."
        raise RefusedError(400, message, param=f"{path}.encrypted_content", code="invalid_encrypted_content")


def _check_search(item: dict[str, Any], path: str) -> None:
    """A search, whose arguments are an object, or what it has found. One that OpenAI ran itself has no `call_id`."""
    if _answers(item):
        _check_call_id(item, path)
    name, form = ("arguments", dict) if item["type"] == SEARCH_CALL else ("tools", list)
    if not isinstance(item.get(name), form):
        raise _missing(f"{path}.{name}")


def _check_message(item: dict[str, Any], path: str) -> None:
    role = item.get("role")
    if role not in _ROLES:
        message = f"{path}.role must be one of {', '.join(_ROLES)}."
        raise RefusedError(400, message, param=f"{path}.role", code="invalid_value")
    _check_content(item.get("content"), _SAID_PARTS if role == "assistant" else _INPUT_PARTS, f"{path}.content")


def _check_content(content: Any, legal: tuple[str, ...], path: str) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise RefusedError(400, f"{path} must be text or an array of parts.", param=path, code="invalid_type")
    for position, part in enumerate(content):
        at = f"{path}[{position}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in legal:
            message = f"{at}.type must be one of {', '.join(legal)}."
            raise RefusedError(400, message, param=f"{at}.type", code="invalid_value")
        match kind:
            case "input_text" | "output_text":
                _check_text(part, "text", at)
            case "refusal":
                _check_text(part, "refusal", at)
            case "input_image" if not re.match(r"https?://|data:", str(part.get("image_url"))):
                message = "Expected a valid URL, but got a value with an invalid format."
                raise RefusedError(400, message, param=f"{at}.image_url", code="invalid_value")


def _answers(item: dict[str, Any]) -> bool:
    """Whether a call or an output is one of the client's; a tool may also tell something unasked, and OpenAI search."""
    may_be_alone = item["type"] in ("function_call_output", SEARCH_CALL, _SEARCH_OUTPUT)
    return not may_be_alone or item.get("call_id") is not None


def _check_call_id(item: dict[str, Any], path: str) -> None:
    _check_text(item, "call_id", path)
    if not 1 <= len(item["call_id"]) <= _MOST_ID_CHARS:
        message = f"{path}.call_id has {len(item['call_id'])} characters; the maximum is {_MOST_ID_CHARS}."
        raise RefusedError(400, message, param=f"{path}.call_id", code="string_above_max_length")


def _check_text(found: dict[str, Any], name: str, path: str) -> None:
    if not isinstance(found.get(name), str):
        raise _missing(f"{path}.{name}")


def _check_pairs(items: list[dict[str, Any]], *, partial: bool) -> None:
    """Every call is answered once, behind it, by an output of its kind, and nothing else is answered, but for calls
    in the rest of a `partial` conversation."""
    waiting: dict[str, str] = {}
    for item in items:
        kind = _kind(item)
        if kind in _CALLS or kind in _OWN_CALLS or (kind == SEARCH_CALL and _answers(item)):
            waiting[item["call_id"]] = kind
        elif kind in _OUTPUTS and not _answers(item):
            continue
        elif kind in _OUTPUTS and waiting.pop(item["call_id"], None) != _OUTPUTS[kind] and not partial:
            message = f"No tool call found for {kind.replace('_', ' ')} with call_id {item['call_id']}."
            raise RefusedError(400, message, param="input")
    for call_id, kind in waiting.items():
        raise RefusedError(400, f"No tool output found for {kind.replace('_', ' ')} {call_id}.", param="input")


def _spoken(item: dict[str, Any]) -> Spoken:
    kind = _kind(item)
    if kind == _SEARCH_OUTPUT:
        return Spoken("tool", results=(f"{len(item['tools'])} found",))
    if kind.removesuffix("_output") != kind:
        return Spoken("tool", results=("\n".join(_texts(item.get("output", ""))),))
    if kind != "message":
        return Spoken("assistant")
    content = item["content"]
    files = isinstance(content, list) and any(part["type"] in ("input_image", "input_file") for part in content)
    return Spoken(item["role"], _texts(content), files=files)


def _texts(content: Any) -> tuple[str, ...]:
    """The texts of a content that is text or an array of parts."""
    if isinstance(content, list):
        return tuple(part["text"] for part in content if "text" in part)
    return (str(content),)


# ---------------------------------------------------------------- tools


def declared(body: dict[str, Any]) -> Iterator[tuple[DemoTool, dict[str, str]]]:
    """The tools that may be called, each with how its call names it beside its name: one of a namespace is known by
    both, and has a name of its own in there. A deferred one is there when a search has found it."""
    tools = body.get("tools")
    if tools is None:
        tools = []
    if not isinstance(tools, list):
        raise RefusedError(400, "'tools' must be an array.", param="tools", code="invalid_type")
    if len(tools) > _MOST_TOOLS:
        message = f"'tools' has {len(tools)} items; the maximum is {_MOST_TOOLS}."
        raise RefusedError(400, message, param="tools", code="array_above_max_length")
    for position, tool in enumerate(tools):
        yield from _callable(tool, f"tools[{position}]", found=False)
    given = body.get("input")
    for number, item in enumerate(given if isinstance(given, list) else []):
        if _kind(item) == _SEARCH_OUTPUT:
            for position, tool in enumerate(item["tools"]):
                yield from _callable(tool, f"input[{number}].tools[{position}]", found=True)


def _callable(tool: Any, path: str, *, found: bool) -> Iterator[tuple[DemoTool, dict[str, str]]]:
    kind = tool.get("type") if isinstance(tool, dict) else None
    if kind == "namespace" and isinstance(tool.get("tools"), list) and isinstance(tool.get("name"), str):
        for position, inner in enumerate(tool["tools"]):
            for one, _ in _callable(inner, f"{path}.tools[{position}]", found=found):
                name = f"{tool['name'] if tool['name'].endswith('_') else tool['name'] + '__'}{one.name}"
                yield replace(one, name=name), {"name": one.name, "namespace": tool["name"]}
    elif kind == SEARCH and tool.get("execution") == "client":
        yield DemoTool(SEARCH, str(tool.get("description") or ""), tool.get("parameters") or {"type": "object"}), {}
    elif kind in _HOSTED or kind == SEARCH:
        return
    elif found or not isinstance(tool, dict) or tool.get("defer_loading") is not True:
        yield _tool(tool, path), {}


def _tool(tool: Any, path: str) -> DemoTool:
    kind = tool.get("type") if isinstance(tool, dict) else None
    if kind not in ("function", "custom"):
        raise RefusedError(400, f"{path}.type must be function or custom.", param=f"{path}.type", code="invalid_value")
    name = tool.get("name")
    if not isinstance(name, str):
        raise _missing(f"{path}.name")
    if not _NAME.fullmatch(name):
        message = f"{path}.name must match ^[a-zA-Z0-9_-]{{1,128}}$."
        raise RefusedError(400, message, param=f"{path}.name", code="invalid_value")
    schema = tool.get("parameters") or {"type": "object", "properties": {}}
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        message = f"Invalid schema for function '{name}': the schema must be of type object."
        raise RefusedError(400, message, param=f"{path}.parameters", code="invalid_function_parameters")
    if tool.get("strict") is True and schema.get("additionalProperties") is not False:
        message = f"Invalid schema for function '{name}': 'additionalProperties' is required to be false."
        raise RefusedError(400, message, param=f"{path}.parameters", code="invalid_function_parameters")
    return DemoTool(name, str(tool.get("description") or ""), schema, custom=kind == "custom")


def _tool_choice(
    body: dict[str, Any], tools: tuple[DemoTool, ...]
) -> tuple[Literal["auto", "none", "required"], frozenset[str] | None]:
    match body.get("tool_choice"):
        case None:
            return "auto", None
        case ("auto" | "none" | "required") as word if word != "required" or tools:
            return word, None
        case {"type": "function" | "custom" as kind, "name": str(name)}:
            return "required", _known([(kind, name)], tools)
        case {"type": "allowed_tools", "mode": ("auto" | "required") as mode, "tools": [*allowed]}:
            named = [(one.get("type"), one.get("name")) for one in allowed if isinstance(one, dict)]
            return mode, _known(
                [pair for pair in named if pair[0] in ("function", "custom")], tools
            )  # others are hosted
    raise RefusedError(400, "'tool_choice' has none of its known forms.", param="tool_choice", code="invalid_value")


def _known(chosen: list[tuple[Any, Any]], tools: tuple[DemoTool, ...]) -> frozenset[str]:
    declared = {("custom" if tool.custom else "function", tool.name) for tool in tools}
    for kind, name in chosen:
        if (kind, name) not in declared:
            message = f"Tool choice '{name}' not found in 'tools' parameter."
            raise RefusedError(400, message, param="tool_choice", code="invalid_value")
    return frozenset(name for _, name in chosen)


# ---------------------------------------------------------------- settings


def _check_reasoning(body: dict[str, Any]) -> None:
    effort = (body.get("reasoning") or {}).get("effort")
    if effort is not None and effort not in _EFFORTS:
        message = f"Invalid value: '{effort}'."
        raise RefusedError(400, message, param="reasoning.effort", code="invalid_value")


def _output_limit(body: dict[str, Any]) -> int | None:
    limit = body.get("max_output_tokens")
    if limit is None:
        return None
    if not isinstance(limit, int) or limit < _LEAST_OUTPUT:
        message = f"Expected a value >= {_LEAST_OUTPUT}, but got {limit} instead."
        raise RefusedError(400, message, param="max_output_tokens", code="integer_below_min_value")
    return limit


def _answer_schema(body: dict[str, Any]) -> Any:
    match (body.get("text") or {}).get("format"):
        case None | {"type": "text"}:
            return None
        case {"type": "json_object"}:
            return {"type": "object", "properties": {"answer": {"type": "string"}}}
        case {"type": "json_schema", "name": str(), "schema": dict(schema)}:
            return schema
    raise RefusedError(400, "'text.format' has none of its known forms.", param="text.format", code="invalid_value")


def _missing(path: str) -> RefusedError:
    return RefusedError(400, f"Missing required parameter: '{path}'.", param=path, code="missing_required_parameter")
