"""Google's generateContent, the request: refuses what the real API refuses, and reads what the script needs.

Sources: Google's API reference and discovery document, and the live API's messages as users quote them: unknown
members anywhere in the document, the order of turns, the count of function responses, names. Members that change
nothing here (safety settings, sampling, ...) are known and not looked at.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from toolwire.demo.answer import RefusedError
from toolwire.demo.last_words import Spoken, last_words
from toolwire.demo.script import Asked, DemoTool, stop_sequences

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
_MOST_STOPS = 5

_UNDERSCORE = re.compile(r"_([a-z])")
#: Members whose value is a client's own.
_FREE = frozenset(
    {"args", "response", "parameters", "parametersJsonSchema", "responseJsonSchema", "responseSchema", "labels"}
)

_BODY = frozenset(
    {
        "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent",
        "labels", "serviceTier", "store",
    }
)  # fmt: skip
_CONTENT = frozenset({"role", "parts"})
_PART_DATA = frozenset(
    {"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult"}
)
_PART = _PART_DATA | {"thought", "thoughtSignature", "partMetadata", "mediaResolution", "videoMetadata"}
_CALL = frozenset({"id", "name", "args"})
_RESPONSE = frozenset({"id", "name", "response", "parts", "willContinue", "scheduling"})
_DECLARATION = frozenset(
    {"name", "description", "parameters", "parametersJsonSchema", "response", "responseJsonSchema", "behavior"}
)
#: The keywords of `parameters`, which is a message of its own and no JSON Schema.
_SCHEMA = frozenset(
    {
        "type", "format", "title", "description", "nullable", "enum", "items", "properties", "required", "minItems",
        "maxItems", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "minimum", "maximum",
        "example", "anyOf", "propertyOrdering", "default",
    }
)  # fmt: skip
#: Lists, one entry of which may stand without the array.
_LISTS = frozenset({"contents", "parts", "tools", "functionDeclarations", "allowedFunctionNames", "stopSequences"})
#: Services of Google's own, none of which the demo runs.
_SERVICES = frozenset(
    {
        "codeExecution", "computerUse", "enterpriseWebSearch", "fileSearch", "googleMaps", "googleSearch",
        "googleSearchRetrieval", "mcpServers", "retrieval", "urlContext",
    }
)  # fmt: skip
_GENERATION = frozenset(
    {
        "temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences", "responseMimeType",
        "responseSchema", "responseJsonSchema", "seed", "presencePenalty", "frequencyPenalty", "responseLogprobs",
        "logprobs", "thinkingConfig", "responseModalities", "mediaResolution", "speechConfig", "imageConfig",
    }
)  # fmt: skip
_THINKING = frozenset({"includeThoughts", "thinkingBudget", "thinkingLevel"})
_CALLING = frozenset({"mode", "allowedFunctionNames", "streamFunctionCallArguments"})


def read_request(body: Any) -> Asked:
    """Checks a parsed request body. Raises RefusedError."""
    body = _documented(body)
    _known(body, _BODY, "")
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        raise RefusedError(400, "* GenerateContentRequest.contents: contents is not specified")
    for position, content in enumerate(contents):
        _check_content(content, f"contents[{position}]")
    _check_turns(contents)
    if "systemInstruction" in body:
        _known(body["systemInstruction"], _CONTENT, "system_instruction")
        _check_content(body["systemInstruction"] | {"role": "user"}, "system_instruction")
    generation = body.get("generationConfig", {})
    _check_generation(generation)
    tools = _tools(body)
    choice, allowed = _choice(body, tools)
    return Asked(
        last_words([_spoken(content) for content in contents]),
        tools=tools,
        choice=choice,
        allowed=allowed,
        max_tokens=generation.get("maxOutputTokens"),
        stop=stop_sequences(generation.get("stopSequences")),
        answer_schema=_answer_schema(generation),
    )


def _documented(value: Any) -> Any:
    """The document with its members' names as they are documented: Google reads each in snake_case as well. What a
    client names itself stays: arguments, results and the properties of schemas."""
    if isinstance(value, list):
        return [_documented(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    known: dict[str, Any] = {}
    for name, inner in value.items():
        own = _camel(name)
        known[own] = inner if own in _FREE else _documented(inner)
        if own in _LISTS and isinstance(known[own], dict):
            known[own] = [known[own]]
    return known


def _camel(name: str) -> str:
    return _UNDERSCORE.sub(lambda found: found[1].upper(), name)


def _known(value: Any, names: frozenset[str], path: str) -> None:
    """Google reads requests as protobuf messages: any other member fails the whole request."""
    if not isinstance(value, dict):
        raise _invalid(f"Invalid value at '{path or 'request'}': an object is needed.")
    unknown = [name for name in value if name not in names]
    if unknown:
        at = f" at '{path}'" if path else ""
        raise _invalid(f'Invalid JSON payload received. Unknown name "{unknown[0]}"{at}: Cannot find field.')


def _check_content(content: Any, path: str) -> None:
    _known(content, _CONTENT, path)
    if content.get("role", "user") not in ("user", "model"):
        raise _invalid("Please use a valid role: user, model.")
    parts = content.get("parts")
    if not isinstance(parts, list) or not parts:
        raise _invalid(f"* GenerateContentRequest.{path}.parts: contents.parts must not be empty.")
    for position, part in enumerate(parts):
        at = f"{path}.parts[{position}]"
        _known(part, _PART, at)
        data = part.keys() & _PART_DATA
        if len(data) != 1:
            raise _invalid(f"* GenerateContentRequest.{at}.data: required oneof field 'data' must have one initialized")
        if "functionCall" in data:
            _check_named(part["functionCall"], _CALL, "args", f"{at}.function_call")
        if "functionResponse" in data:
            _check_named(part["functionResponse"], _RESPONSE, "response", f"{at}.function_response")


def _check_named(value: Any, names: frozenset[str], payload: str, path: str) -> None:
    _known(value, names, path)
    if not value.get("name"):
        raise _invalid(f"* GenerateContentRequest.{path}.name: Name cannot be empty.")
    if not isinstance(value.get(payload, {}), dict) or (payload == "response" and payload not in value):
        raise _invalid(f"Invalid value at '{path}.{payload}' (type.googleapis.com/google.protobuf.Struct)")


def _check_turns(contents: list[dict[str, Any]]) -> None:
    """A turn with calls follows the user or results, and its results follow it: as many, in one content."""
    for position, content in enumerate(contents):
        calls = [part for part in content["parts"] if "functionCall" in part]
        before = contents[position - 1] if position else None
        if calls and (before is None or before.get("role", "user") != "user"):
            raise _invalid(
                "Please ensure that function call turn comes immediately after a user turn or after a function "
                "response turn."
            )
        after = contents[position + 1] if position + 1 < len(contents) else None
        answered = len(_responses(after)) if after is not None else 0
        if calls and answered != len(calls):
            raise _invalid(
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )
        previous = [part for part in before["parts"] if "functionCall" in part] if before is not None else []
        if _responses(content) and not previous:
            raise _invalid("Please ensure that function response turn comes immediately after a function call turn.")


def _check_generation(generation: Any) -> None:
    _known(generation, _GENERATION, "generation_config")
    _known(generation.get("thinkingConfig", {}), _THINKING, "generation_config.thinking_config")
    if len(generation.get("stopSequences", [])) > _MOST_STOPS:
        raise _invalid(f"* GenerateContentRequest.generation_config.stop_sequences: at most {_MOST_STOPS}.")
    if {"thinkingBudget", "thinkingLevel"} <= generation.get("thinkingConfig", {}).keys():
        raise _invalid("You can only set one of thinking budget and thinking level.")
    limit = generation.get("maxOutputTokens")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise _invalid("max_output_tokens must be positive.")


def _tools(body: dict[str, Any]) -> tuple[DemoTool, ...]:
    found = []
    for position, tool in enumerate(body.get("tools", [])):
        _known(tool, _SERVICES | {"functionDeclarations"}, f"tools[{position}]")
        for number, declaration in enumerate(tool.get("functionDeclarations", [])):
            found.append(_tool(declaration, f"tools[{position}].function_declarations[{number}]"))
    if len({tool.name for tool in found}) < len(found):
        raise _invalid("Duplicate function declaration found.")
    return tuple(found)


def _tool(declaration: Any, path: str) -> DemoTool:
    _known(declaration, _DECLARATION, path)
    name = declaration.get("name", "")
    if not _NAME.fullmatch(name):
        raise _invalid(
            f"* GenerateContentRequest.{path}.name: Invalid function name. Must start with a letter or an underscore. "
            "Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:) or dashes (-), with a maximum "
            "length of 128."
        )
    if "parameters" in declaration:
        if "parametersJsonSchema" in declaration:
            raise _invalid(f"{path}: only one of parameters and parameters_json_schema may be set.")
        schema = _json_schema(declaration["parameters"], f"{path}.parameters")
    else:
        schema = declaration.get("parametersJsonSchema") or {"type": "object"}
    return DemoTool(name, declaration.get("description", ""), schema)


def _json_schema(given: Any, path: str) -> dict[str, Any]:
    """Google's message Schema, whose types are in upper case, as JSON Schema."""
    if not isinstance(given, dict):
        raise _invalid(f"Invalid value at '{path}': an object is needed.")
    schema = {_camel(name): value for name, value in given.items()}
    _known(schema, _SCHEMA, path)
    if isinstance(schema.get("type"), str):
        schema["type"] = schema["type"].lower()
    properties = schema.get("properties", {}).items()
    inner = {name: _json_schema(value, f"{path}.properties[{name}]") for name, value in properties}
    schema |= {"properties": inner} if inner else {}
    if "anyOf" in schema:
        schema["anyOf"] = [_json_schema(one, f"{path}.any_of[{n}]") for n, one in enumerate(schema["anyOf"])]
    if "items" in schema:
        schema["items"] = _json_schema(schema["items"], f"{path}.items")
    return schema


def _choice(
    body: dict[str, Any], tools: tuple[DemoTool, ...]
) -> tuple[Literal["auto", "none", "required"], frozenset[str] | None]:
    config = body.get("toolConfig", {})
    _known(config, frozenset({"functionCallingConfig", "retrievalConfig"}), "tool_config")
    calling = config.get("functionCallingConfig", {})
    _known(calling, _CALLING, "tool_config.function_calling_config")
    mode, names = calling.get("mode", "AUTO"), calling.get("allowedFunctionNames")
    if mode not in ("AUTO", "ANY", "NONE", "VALIDATED"):
        raise _invalid("Invalid value at 'tool_config.function_calling_config.mode'")
    if mode != "AUTO" and mode != "NONE" and not tools:
        raise _invalid("Function calling config is set without function_declarations.")
    if names is not None and mode not in ("ANY", "VALIDATED"):
        raise _invalid("Allowed function names are only supported in the modes ANY and VALIDATED.")
    if names is not None and not {tool.name for tool in tools}.issuperset(names):
        raise _invalid("Allowed function names must be among the function declarations.")
    meant: dict[str, Literal["auto", "none", "required"]] = {"ANY": "required", "NONE": "none"}
    return meant.get(mode, "auto"), frozenset(names) if names is not None else None


def _answer_schema(generation: dict[str, Any]) -> Any:
    if generation.get("responseMimeType") != "application/json":
        return None
    free = {"type": "object", "properties": {"answer": {"type": "string"}}}
    if "responseSchema" in generation:
        return _json_schema(generation["responseSchema"], "generation_config.response_schema")
    return generation.get("responseJsonSchema") or free


def _responses(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]


def _result(response: dict[str, Any]) -> str:
    said = response["response"]
    return str(said.get("output", said.get("error", said)))


def _spoken(content: dict[str, Any]) -> Spoken:
    role = "user" if content.get("role", "user") == "user" else "assistant"
    texts = tuple(part["text"] for part in content["parts"] if "text" in part and not part.get("thought"))
    files = any(part.keys() & {"inlineData", "fileData"} for part in content["parts"])
    return Spoken(role, texts, tuple(_result(response) for response in _responses(content)), files)


def _invalid(message: str) -> RefusedError:
    return RefusedError(400, message)
