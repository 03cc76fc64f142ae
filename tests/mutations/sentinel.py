"""Mutants of the rows from Sentinel's documents."""

from __future__ import annotations

from tests.mutations.mutant import Mutant

_PACKAGE = "layers/shared/toolwire"
_DOCUMENT = f"{_PACKAGE}/doors/native/document.py"
_CHAT = f"{_PACKAGE}/providers/openai_chat/messages.py"

MUTANTS = {
    "Sentinel: the translator plan": [
        Mutant(
            "Tool definitions are sent in OpenAI's `tools`",
            f"{_PACKAGE}/providers/openai_chat/tools.py",
            'inner += [("parameters", tool.parameters)] if tool.parameters is not None else []',
            "",
        ),
        Mutant(
            "A tool's name is `^[a-zA-Z0-9_]+$`",
            f"{_PACKAGE}/doors/native/request_models.py",
            "Annotated[str, Field(pattern=TOOL_NAME)]",
            "str",
        ),
        Mutant(
            "A description is required and not empty",
            f"{_PACKAGE}/doors/native/request_models.py",
            "AfterValidator(_says_something), ",
            "",
        ),
        Mutant(
            "An empty `tools` array is valid",
            f"{_PACKAGE}/doors/chat_completions/tools.py",
            "enumerate(raw or ())",
            'enumerate(raw or (b\'{"type":"x"}\',))',
        ),
        Mutant(
            "The id is `call_{uuid v4}`",
            f"{_PACKAGE}/conversation/tool_call_ids.py",
            'return f"call_{body}{base62(body.encode(), 2)}"',
            'return f"call_{body}"',
        ),
        Mutant(
            "Each parallel call gets an id of its own",
            f"{_PACKAGE}/exchange/answer_ids.py",
            "mint(self.token, self.new_id(RANDOM_CHARS))",
            'mint(self.token, "0" * RANDOM_CHARS)',
        ),
        Mutant(
            "A provider's id maps to ours and back",
            f"{_PACKAGE}/conversation/turn_record.py",
            "call_id, provider_call_id=provider_call_id,",
            "call_id, provider_call_id=call_id,",
        ),
        Mutant(
            "An answer without calls makes no mapping",
            f"{_PACKAGE}/conversation/turn_record.py",
            "self._minted.items():",
            '{**self._minted, "x": ("x", "x")}.items():',
        ),
        Mutant(
            "A result without `tool_call_id` is refused",
            f"{_PACKAGE}/doors/native/request_models.py",
            "    tool_call_id: NonEmpty\n",
            '    tool_call_id: str = "call_0"\n',
        ),
        Mutant(
            "A result without `name` is an error",
            f"{_PACKAGE}/doors/native/request_models.py",
            "    is_error: bool = False\n    name: str | None = None",
            "    is_error: bool = False\n    name: str",
        ),
        Mutant(
            "`parameters` must be a valid schema",
            f"{_PACKAGE}/doors/native/tools.py",
            """if root != b'"object"':""",
            "if root == b'null':",
        ),
        Mutant(
            "`tool_choice`: auto, none, required, a function",
            f"{_PACKAGE}/doors/native/tools.py",
            'return ToolChoice("required", (choice.function.name,), named=True)',
            'return ToolChoice("required")',
        ),
        Mutant(
            "Calls of an answer become the unified form",
            f"{_PACKAGE}/exchange/answer_ids.py",
            "if event.id and self._keeps(event.id, event.has_state):",
            "if event.id:",
        ),
        Mutant(
            "Arguments are shown as a parsed object",
            _DOCUMENT,
            '(("arguments", raw_arguments(call.arguments)),)',
            '(("arguments", dump(call.arguments)),)',
        ),
        Mutant("Malformed arguments are an error", _DOCUMENT, "if not finish.is_cut:", "if False:"),
        Mutant(
            "`finish_reason: tool_calls` passes through",
            _DOCUMENT,
            '("finish_reason", dump(finish.reason))',
            '("finish_reason", dump("stop"))',
        ),
        Mutant(
            "A JSON result becomes text for OpenAI",
            f"{_PACKAGE}/doors/native/history.py",
            "    if not isinstance(value, list) or not value:\n        return (TextPart(raw.decode()),)",
            "    if not isinstance(value, list) or not value:\n        return (TextPart(str(value)),)",
        ),
        Mutant("`is_error` is told to OpenAI by a prefix", _CHAT, 'TextPart(f"Error: {first.text}")', "first"),
        Mutant(
            "A result is `{tool_call_id, content, is_error?}`",
            _CHAT,
            'yield "tool_call_id", dump(part.tool_call_id)',
            'yield "tool_call_id", dump("call_0")',
        ),
    ],
    "Sentinel: the research": [
        Mutant(
            "`type` is always `function`",
            f"{_PACKAGE}/doors/native/request_models.py",
            'class ToolDefinition(Model):\n    type: Literal["function"]',
            "class ToolDefinition(Model):\n    type: str",
        ),
        Mutant(
            "Strict mode is not in version 1",
            f"{_PACKAGE}/schema/strict.py",
            'return StrictFault(node, f"`{refused[0]}` is not allowed in a strict schema")',
            "continue",
        ),
        Mutant(
            "The schema is validated before anything is sent",
            f"{_PACKAGE}/schema/check.py",
            'if kind != "object" and not (isinstance(kind, list) and "object" in kind):',
            "if False:",
        ),
        Mutant(
            "Names are validated early",
            f"{_PACKAGE}/doors/native/request_models.py",
            "Annotated[str, Field(pattern=TOOL_NAME)]",
            "str",
        ),
        Mutant(
            "Streamed deltas are gathered by `index`",
            f"{_PACKAGE}/stream/accumulator.py",
            "there = self._by_index.get(index) if index is not None else None",
            "there = self._last if index is not None else None",
        ),
        Mutant(
            "Arguments are not parsed before the call is complete",
            f"{_PACKAGE}/doors/native/stream.py",
            "self._calls[index].fragments.append(fragment)\n",
            'self._calls[index].fragments.append(str(__import__("json").loads(fragment)))\n',
        ),
        Mutant(
            "Ids in results are checked against the conversation",
            f"{_PACKAGE}/rewrite/history.py",
            "if results[part.tool_call_id] <= calls[part.tool_call_id]:",
            "if True:",
        ),
        Mutant("No global state of ids", f"{_PACKAGE}/conversation/tool_call_ids.py", " and call_id not in used", ""),
        Mutant(
            "No global state of ids",
            f"{_PACKAGE}/conversation/tool_call_ids.py",
            'base62(f"{tenant}\\n{named}".encode',
            'base62(f"{named}".encode',
        ),
        Mutant(
            "Example: definition",
            f"{_PACKAGE}/providers/openai_chat/tools.py",
            'inner += [("parameters", tool.parameters)] if tool.parameters is not None else []',
            "",
        ),
        Mutant(
            "Example: call in a response",
            _DOCUMENT,
            '("function", write_object([("name", dump(call.name)), *arguments]))',
            '("function", write_object(arguments))',
        ),
        Mutant(
            "Example: result in the next request",
            _CHAT,
            'yield "tool_call_id", dump(part.tool_call_id)',
            'yield "tool_call_id", dump("call_0")',
        ),
        Mutant(
            "Example: streaming deltas",
            f"{_PACKAGE}/doors/native/stream.py",
            "                self._calls[index].fragments.append(fragment)\n",
            "",
        ),
        Mutant(
            "Example: translation of `tool_choice`",
            f"{_PACKAGE}/doors/native/tools.py",
            'return ToolChoice("required", (choice.function.name,), named=True)',
            'return ToolChoice("required")',
        ),
        Mutant(
            "`functions` and `function_call` are not supported",
            f"{_PACKAGE}/doors/native/request_models.py",
            'extra="forbid"',
            'extra="ignore"',
        ),
        Mutant(
            "Arguments that are malformed at the end are an error",
            _DOCUMENT,
            "if not finish.is_cut:",
            "if False:",
        ),
        Mutant(
            "A named conversation",
            f"{_PACKAGE}/conversation/tool_call_ids.py",
            "for named in (request.conversation_id, *map(headers.get, names)):",
            "for named in map(headers.get, names):",
        ),
        Mutant(
            "A mapping hint for stateless clients",
            f"{_PACKAGE}/conversation/tool_call_ids.py",
            "for call in reversed(request.tool_calls):",
            "for call in ():",
        ),
        Mutant(
            "`required` is treated like every other choice",
            f"{_PACKAGE}/policy/rules.py",
            '("error" if native else "warn")',
            '"warn"',
        ),
        Mutant("No limit on parallel calls", f"{_PACKAGE}/model/limits.py", "    calls=20,", "    calls=2000,"),
    ],
}
