"""Mutants of the rows from Cline's data model."""

from __future__ import annotations

from tests.mutations.mutant import Mutant

_PACKAGE = "layers/shared/toolwire"
_HISTORY = f"{_PACKAGE}/doors/chat_completions/history.py"
_REQUEST = f"{_PACKAGE}/doors/chat_completions/request.py"
_EFFORTS = f"{_PACKAGE}/doors/reasoning_efforts.py"
_TOOLS = f"{_PACKAGE}/doors/chat_completions/tools.py"
_DEFINITIONS = f"{_PACKAGE}/policy/definitions.py"
_ARGUMENTS = f"{_PACKAGE}/policy/arguments.py"
_STRICT = f"{_PACKAGE}/schema/strict.py"
_TYPED = f"{_PACKAGE}/doors/typed_json.py"
_DOCUMENT = f"{_PACKAGE}/doors/chat_completions/document.py"
_STREAM = f"{_PACKAGE}/doors/chat_completions/stream.py"
_ANSWER_IDS = f"{_PACKAGE}/exchange/answer_ids.py"
_CALL_IDS = f"{_PACKAGE}/conversation/tool_call_ids.py"
_CHAT_ANSWER = f"{_PACKAGE}/providers/openai_chat/answer.py"
_RESULT_IDS = f"{_PACKAGE}/rewrite/history.py"

MUTANTS = {
    "Cline: message": [
        Mutant("`role`: system, user, assistant, tool", _HISTORY, "if shape.role not in _ROLES:", "if False:"),
        Mutant(
            "`content` may be null beside `tool_calls`",
            _HISTORY,
            'if shape.role == "assistant":\n        return',
            'if shape.role == "assistant" and shape.content is not None:\n        return',
        ),
        Mutant(
            "A tool message needs `tool_call_id`",
            _HISTORY,
            "    if not shape.tool_call_id:\n        raise",
            "    if not shape.tool_call_id:\n        return content\n        raise",
        ),
        Mutant(
            "A tool message needs `content`",
            _HISTORY,
            "if shape.content is None or shape.content == []:",
            "if shape.content == []:",
        ),
        Mutant(
            "`tool_calls` only on assistant messages",
            _HISTORY,
            'if shape.tool_calls and shape.role != "assistant":',
            "if False:",
        ),
        Mutant("`name` is optional", _HISTORY, "inner, name=_given(shape.name)),)", "inner, name=None),)"),
        Mutant(
            "Text and calls may coexist",
            f"{_PACKAGE}/providers/openai_chat/messages.py",
            'yield "content", _content_value(shown, "" if message.role',
            'yield "content", b"null" if calls else _content_value(shown, "" if message.role',
        ),
        Mutant(
            "user, assistant with calls, results, assistant",
            _HISTORY,
            "for number, raw in enumerate(shape.tool_calls or ()):",
            "for number, raw in enumerate(()):",
        ),
        Mutant(
            "`tool_call_id` matches a call of an earlier message",
            f"{_PACKAGE}/rewrite/history.py",
            "if results[part.tool_call_id] <= calls[part.tool_call_id]:",
            "if True:",
        ),
    ],
    "Cline: tool call and invocation": [
        Mutant("`id` is `^call_[a-zA-Z0-9]+$`", _REQUEST, 'r"call_[A-Za-z0-9]{1,35}"', 'r"call_[A-Za-z0-9_]{1,35}"'),
        Mutant(
            "`id` is cryptographically random",
            _CALL_IDS,
            'return f"call_{body}{base62(body.encode(), 2)}"',
            'return f"call_{body}"',
        ),
        Mutant("`type` is `function`", _DOCUMENT, '"id": id, "type": kind,', '"id": id,'),
        Mutant(
            "`arguments` is a JSON string, not an object",
            _DOCUMENT,
            '{"name": name, inner: text}',
            '{"name": name, inner: __import__("json").loads(text)}',
        ),
        Mutant(
            "Several calls in one message",
            _ANSWER_IDS,
            "mint(self.token, self.new_id(RANDOM_CHARS))",
            'mint(self.token, "0" * RANDOM_CHARS)',
        ),
        Mutant(
            "`id` is unique in the conversation",
            f"{_PACKAGE}/conversation/tool_call_ids.py",
            " and call_id not in used",
            "",
        ),
        Mutant("`function` has a name", _HISTORY, "if not inner.name:", "if False:"),
        Mutant(
            "The name is a tool of the request",
            f"{_PACKAGE}/policy/answers.py",
            "if call.name not in self._tools and not self._has_opaque:",
            "if False:",
        ),
        Mutant(
            "`arguments` is valid JSON",
            _ARGUMENTS,
            'return [Flaw(MALFORMED, "", "a JSON object", "text that is no JSON" if text else "nothing")]',
            "return []",
        ),
        Mutant(
            "Required parameters are there",
            _ARGUMENTS,
            "if judge.validator.is_valid(value):",
            "if True:",
        ),
        Mutant("Types match", _ARGUMENTS, "if judge.validator.is_valid(value):", "if True:"),
    ],
    "Cline: tool definition and function": [
        Mutant(
            "`type` is `function`",
            _TOOLS,
            'if shape.type not in ("function", "custom"):\n        return with_source',
            "if False:\n        return with_source",
        ),
        Mutant("`name` is `^[a-zA-Z0-9_-]+$`", _ANSWER_IDS, "return self.names.get(name, name)", "return name"),
        Mutant(
            "`description` is optional",
            _TOOLS,
            "Tool(inner.name, inner.description, schema,",
            'Tool(inner.name, inner.description or "", schema,',
        ),
        Mutant(
            "`parameters` is required",
            f"{_PACKAGE}/doors/tool_parameters.py",
            'if raw in (b"", b"null", b"[]"):',
            'if raw in (b"null", b"[]"):',
        ),
        Mutant(
            "`parameters` is valid JSON Schema",
            f"{_PACKAGE}/schema/check.py",
            "return Fault(_INVALID, pointer, text, tuple(path))",
            "return Fault(_TOO_COMPLEX, pointer, text, tuple(path))",
        ),
        Mutant("`strict` is a boolean", _TOOLS, "schema, inner.strict, extra=", "schema, None, extra="),
        Mutant("Example: `read_file`", _DOCUMENT, '{"name": name, inner: text}', '{"name": name, inner: "{}"}'),
        Mutant("Names are unique", _DEFINITIONS, "        if tool.name in names:", "        if False:"),
        Mutant(
            "Its root is an object",
            f"{_PACKAGE}/schema/check.py",
            """return Fault(_INVALID, "/type", 'it must be "object": the arguments of a call are an object')""",
            "return None",
        ),
        Mutant("strict: every property required", _STRICT, "    if missing:", "    if False:"),
        Mutant(
            "strict: `additionalProperties: false` at every level",
            _STRICT,
            'if node.get("additionalProperties") is not False:\n        return "every',
            'if False:\n        return "every',
        ),
        Mutant("strict: at most 100 properties", _STRICT, "levels: int = 10", "levels: int = 11"),
    ],
    "Cline: the request": [
        Mutant(
            "`model` is a supported one",
            f"{_PACKAGE}/exchange/routing.py",
            "if provider_model not in DEMO_MODELS:",
            "if False:",
        ),
        Mutant(
            "`model` is required and not empty",
            _TYPED,
            "    if not model:\n",
            "    model = model or 'm'\n    if not model:\n",
        ),
        Mutant(
            "`messages` has at least one",
            _TYPED,
            '    if not raw:\n        raise RequestError(\n            "`messages`',
            '    if raw is None:\n        raise RequestError(\n            "`messages`',
        ),
        Mutant(
            "No tool message without its call before it",
            _RESULT_IDS,
            "if results[part.tool_call_id] <= calls[part.tool_call_id]:",
            "if True:",
        ),
        Mutant(
            "`stream`, false by default",
            _REQUEST,
            'stream = bool(member(top, "stream", bool))',
            'stream = member(top, "stream", bool) is not False',
        ),
        Mutant(
            "`max_tokens` is a positive integer",
            _REQUEST,
            "if value is not None and value < 1:",
            "if value is not None and value < 0:",
        ),
        Mutant(
            "`temperature` and `top_p` are 1.0 by default",
            f"{_PACKAGE}/model/request.py",
            "    temperature: float | None = None",
            "    temperature: float | None = 1.0",
        ),
        Mutant(
            "`tools` is optional and may be empty",
            _TOOLS,
            "enumerate(raw or ())",
            'enumerate(raw or (b\'{"type":"x"}\',))',
        ),
        Mutant(
            "50 to 100 tools are recommended at most",
            f"{_PACKAGE}/model/limits.py",
            "PRESET_AGENTS = Limits(\n    tools=512",
            "PRESET_AGENTS = Limits(\n    tools=513",
        ),
        Mutant(
            "`auto` by default when tools are there",
            _TOOLS,
            'if raw == b"null":\n        return None',
            'if raw == b"null":\n        return ToolChoice("none")',
        ),
        Mutant(
            "`parallel_tool_calls` is a boolean",
            _REQUEST,
            'parallel_tool_calls=member(top, "parallel_tool_calls", bool)',
            "parallel_tool_calls=None",
        ),
        Mutant(
            "`false`: at most one call",
            f"{_PACKAGE}/policy/answers.py",
            "if self._one_call and len(self._calls) == 2:",
            "if self._one_call and len(self._calls) == 3:",
        ),
        Mutant(
            "`strict` needs `parallel_tool_calls: false`", _DEFINITIONS, 'warnings.add("strict_with_parallel")', "pass"
        ),
        Mutant("`stream_options` only with `stream`", _REQUEST, "if options is not None and not stream:", "if False:"),
        Mutant(
            "`include_usage`: false by default",
            _REQUEST,
            "return bool(options and options.include_usage)",
            "return True",
        ),
        Mutant(
            "`reasoning_effort`: low, medium, high",
            _EFFORTS,
            "return (word, ()) if word is None or word in EFFORTS else",
            "return (None, ()) if word is None or word in EFFORTS else",
        ),
        Mutant(
            "Other fields are accepted, not forwarded",
            _REQUEST,
            "(name for name in _DIALECT_FIELDS if _asks(top, name))",
            "()",
        ),
        Mutant("`temperature` from 0 to 2", _REQUEST, '"temperature", 0, 2)', '"temperature", 0, 3)'),
        Mutant(
            "`stop` is a string or a list",
            _REQUEST,
            "stop=(stop,) if isinstance(stop, str) else",
            "stop=tuple(stop) if isinstance(stop, str) else",
        ),
        Mutant(
            "`tool_choice` is auto, none, required or a function",
            _TOOLS,
            'if word not in ("auto", "none", "required"):',
            "if False:",
        ),
        Mutant("A named function is in `tools`", _DEFINITIONS, "        if name not in names:", "        if False:"),
    ],
    "Cline: the response": [
        Mutant("`id` is `chatcmpl-...`", _REQUEST, '"chatcmpl-"', '"cmpl-"'),
        Mutant(
            "`object`, `created`, `model`, `choices`",
            _DOCUMENT,
            '("created", dump(response.created))',
            '("created", b"null")',
        ),
        Mutant(
            "`message` in a whole answer, `delta` in a stream",
            _DOCUMENT,
            '("message", _message(',
            '("delta", _message(',
        ),
        Mutant("`index` is 0", _DOCUMENT, '("index", b"0")', '("index", b"1")'),
        Mutant(
            "`finish_reason`: stop, tool_calls, length",
            _CHAT_ANSWER,
            'if reason in ("stop", "tool_calls") and',
            "if",
        ),
        Mutant(
            "`tool_calls` is the reason when there are calls",
            _CHAT_ANSWER,
            'return "tool_calls" if self._parts.calls else "stop"',
            'return "stop"',
        ),
        Mutant("null in every chunk but the last", _STREAM, 'finish: bytes = b"null"', "finish: bytes = b'\"stop\"'"),
        Mutant("`usage` in a whole answer", _DOCUMENT, '("usage", render_usage(response.usage)),', ""),
        Mutant("Flow: simple tool call", _DOCUMENT, '{"name": name, inner: text}', '{"name": name, inner: "{}"}'),
        Mutant(
            "Flow: multi-turn",
            _HISTORY,
            "ToolResultPart(shape.tool_call_id, inner,",
            "ToolResultPart(shape.tool_call_id, (),",
        ),
        Mutant(
            "Flow: parallel calls",
            _HISTORY,
            "enumerate(shape.tool_calls or ())",
            "enumerate((shape.tool_calls or ())[:1])",
        ),
        Mutant(
            "`total_tokens` is the sum",
            f"{_PACKAGE}/doors/openai_usage.py",
            '"total_tokens": usage.total_tokens',
            '"total_tokens": usage.input_tokens',
        ),
    ],
}
