"""Mutants of the rows from 2api's specification on definitions, calls, results and what each provider can do."""

from __future__ import annotations

from tests.mutations.mutant import Mutant

_PACKAGE = "layers/shared/toolwire"
_CHAT = f"{_PACKAGE}/doors/chat_completions"
_ANTHROPIC = f"{_PACKAGE}/providers/anthropic_messages"
_GEMINI = f"{_PACKAGE}/providers/gemini"
_DEFINITIONS = f"{_PACKAGE}/policy/definitions.py"
_HISTORY = f"{_PACKAGE}/rewrite/history.py"
_ANSWER_IDS = f"{_PACKAGE}/exchange/answer_ids.py"

_FINAL_ONLY = """        batch = self._chunk(*_read(data))
        self._parts.held = [*getattr(self._parts, "held", ()), *batch.events]
        return _NOTHING

    def end(self) -> Batch:
        \"\"\"The body is over, and with it the answer: a stream has no other end.\"\"\"
        if self._ended:
            return _NOTHING
        return Batch((*getattr(self._parts, "held", ()), *self._close()))
"""

MUTANTS = {
    "2api: schema and normalization (2, 3)": [
        Mutant(
            "`name` is `^[a-zA-Z0-9_-]{1,64}$`",
            _DEFINITIONS,
            "if not 1 <= len(tool.name) <= limits.tool_name_chars:",
            "if not tool.name:",
        ),
        Mutant(
            "`description` has at most 1,024 characters",
            _DEFINITIONS,
            'if len(tool.description or "") > limits.description_chars:',
            "if False:",
        ),
        Mutant(
            "`strict`, false by default",
            f"{_CHAT}/tools.py",
            "schema, inner.strict, extra=",
            "schema, inner.strict is not False, extra=",
        ),
        Mutant(
            "Call: `id`, `type`, `function.name`, `function.arguments`",
            f"{_CHAT}/document.py",
            '"id": id, "type": kind,',
            '"id": id,',
        ),
        Mutant(
            "`arguments` may be malformed",
            f"{_ANTHROPIC}/answer_blocks.py",
            "        self.call_ends.end(call, events)\n",
            "        if not all(map(is_object, call.texts)):\n"
            '            raise UpstreamTruncated("malformed")\n'
            "        self.call_ends.end(call, events)\n",
        ),
        Mutant(
            "Result: role, id, content",
            _HISTORY,
            "if results[part.tool_call_id] <= calls[part.tool_call_id]:",
            "if True:",
        ),
        Mutant(
            "Definitions at OpenAI: as they are",
            f"{_PACKAGE}/providers/openai_chat/tools.py",
            'inner += [("description", dump(tool.description))] if tool.description is not None else []',
            "",
        ),
        Mutant(
            "Definitions at Anthropic: `name`, `description`, `input_schema`",
            f"{_ANTHROPIC}/tools.py",
            'members.append(("input_schema", schema.parameters))',
            'members.append(("parameters", schema.parameters))',
        ),
        Mutant(
            "Definitions at Google: `functionDeclarations`",
            f"{_GEMINI}/request.py",
            '[("functionDeclarations", write_array(declarations))]',
            '[("tools", write_array(declarations))]',
        ),
        Mutant(
            "`tool_choice` at Anthropic: auto, none, any, tool",
            f"{_ANTHROPIC}/tools.py",
            'form = {"type": "any"}',
            'form = {"type": "auto"}',
        ),
        Mutant(
            "`tool_choice` at Google: not supported",
            f"{_GEMINI}/tools.py",
            'config = {"mode": "ANY"}',
            'config = {"mode": "AUTO"}',
        ),
        Mutant(
            "OpenAI's ids pass through",
            f"{_PACKAGE}/conversation/tool_call_ids.py",
            "return re.fullmatch(pattern, call_id) is not None",
            "return False",
        ),
        Mutant(
            "Anthropic's `tool_use` ids",
            _ANSWER_IDS,
            "return self.kept is not None and not has_state and keeps(id, self.kept, self.used)",
            "return True",
        ),
        Mutant(
            "Google's calls get `call_{timestamp}_{name}`",
            _ANSWER_IDS,
            "mint(self.token, self.new_id(RANDOM_CHARS))",
            'mint(self.token, "0" * RANDOM_CHARS)',
        ),
        Mutant(
            "Objects become JSON text",
            f"{_GEMINI}/answer_parts.py",
            "return msgspec.json.format(text, indent=-1).decode()",
            "return json.dumps(json.loads(text))",
        ),
        Mutant(
            "Results: Anthropic's `tool_result` in a user message",
            f"{_ANTHROPIC}/messages.py",
            '("tool_use_id", dump(part.tool_call_id))',
            '("tool_call_id", dump(part.tool_call_id))',
        ),
        Mutant(
            "Results: Google's `functionResponse` by name",
            f"{_GEMINI}/messages.py",
            'response += [("name", dump(call.name)),',
            'response += [("name", dump(call.id)),',
        ),
    ],
    "2api: capabilities (6)": [
        Mutant(
            "Basic tool calling everywhere",
            f"{_ANTHROPIC}/request.py",
            '    if tools:\n        yield "tools"',
            '    if False:\n        yield "tools"',
        ),
        Mutant(
            "Parallel calls: not at Google",
            f"{_GEMINI}/answer_parts.py",
            "            self.has_calls = True\n",
            "            if self.has_calls:\n                return\n            self.has_calls = True\n",
        ),
        Mutant(
            "Streaming: final only at Google",
            f"{_GEMINI}/answer.py",
            """        return self._chunk(*_read(data))

    def end(self) -> Batch:
        \"\"\"The body is over, and with it the answer: a stream has no other end.\"\"\"
        if self._ended:
            return _NOTHING
        return Batch(tuple(self._close()))
""",
            _FINAL_ONLY,
        ),
        Mutant(
            "Nested objects everywhere",
            f"{_PACKAGE}/schema/convert.py",
            "return {name: below.get((word, name), schema) for name, schema in value.items()}",
            "return {name: schema for name, schema in value.items()}",
        ),
        Mutant(
            "`$ref`: OpenAI only",
            f"{_PACKAGE}/schema/convert.py",
            'return {"$ref": self._definition(target, {}), **node}',
            "return node",
        ),
    ],
    "2api: results (8) and contract tests (9)": [
        Mutant(
            "Plain text, JSON text, errors with `Error:`, empty text",
            f"{_GEMINI}/messages.py",
            'else "output": text}',
            'else "output": text.removeprefix("Error:")}',
        ),
        Mutant("Large results", f"{_PACKAGE}/model/limits.py", "BODY_BYTES = 4_500_000", "BODY_BYTES = 5_000_000"),
        Mutant("`test_tool_call_has_required_fields`", f"{_CHAT}/document.py", '"id": id, "type": kind,', '"id": id,'),
        Mutant(
            "`test_tool_call_id_format`",
            _ANSWER_IDS,
            "mint(self.token, self.new_id(RANDOM_CHARS))",
            'mint(self.token, "0" * RANDOM_CHARS)',
        ),
        Mutant(
            "`test_tool_result_matches_call`",
            _HISTORY,
            "if results[part.tool_call_id] <= calls[part.tool_call_id]:",
            "if True:",
        ),
        Mutant(
            "`test_finish_reason_tool_calls`",
            f"{_GEMINI}/answer.py",
            'if finish.reason == "stop" and self._parts.has_calls:',
            "if False:",
        ),
        Mutant(
            "`test_arguments_is_string`",
            f"{_CHAT}/document.py",
            '{"name": name, inner: text}',
            '{"name": name, inner: __import__("json").loads(text)}',
        ),
    ],
}
