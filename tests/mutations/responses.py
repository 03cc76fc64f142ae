"""Mutants of the rows from the Responses proxy's document."""

from __future__ import annotations

from tests.mutations.mutant import Mutant

_PACKAGE = "layers/shared/toolwire/doors/responses"
_TOOLS = f"{_PACKAGE}/tools.py"
_ITEM_EVENTS = f"{_PACKAGE}/item_events.py"
_HISTORY = f"{_PACKAGE}/history.py"
_RECOVERY = "layers/shared/toolwire/stream/text_calls/recovery.py"
_SCANNER = "layers/shared/toolwire/stream/text_calls/scanner.py"
_FOREIGN = "layers/shared/toolwire/rewrite/client_dialect.py"

MUTANTS = {
    "The Responses proxy": [
        Mutant(
            "Arguments before the name are held and replayed",
            "layers/shared/toolwire/providers/openai_chat/answer_parts.py",
            "if call.arguments:\n                events.append(ToolCallDelta(call.part, call.text()))",
            "if piece:\n                events.append(ToolCallDelta(call.part, piece))",
        ),
        Mutant(
            "`response.output_item.added` with `status: in_progress`",
            f"{_PACKAGE}/numbered_events.py",
            """id = b'"item_id":%b,' % dump(item_id) if self.is_extended else b\"\"""",
            'id = b""',
        ),
        Mutant(
            "`response.output_tool_call.begin`",
            f"{_PACKAGE}/numbered_events.py",
            "        if not self.is_extended:\n",
            "        if self.is_extended:\n",
        ),
        Mutant(
            "Events are numbered",
            f"{_PACKAGE}/numbered_events.py",
            "self.sequence, self.sequence + 1",
            "self.sequence, self.sequence + 2",
        ),
        Mutant("`response.done` is the last event", f"{_PACKAGE}/numbered_events.py", "return out\n", 'return b""\n'),
        Mutant("Background responses with tools", f"{_PACKAGE}/request.py", "    _check_background(top)\n", ""),
        Mutant(
            "Debug log",
            "layers/shared/toolwire/shell/telemetry/call_lines.py",
            'self._line("complete", name, index=event.index, argument_bytes=size)',
            'self._line("complete", name, index=event.index, argument_bytes=0)',
        ),
        Mutant(
            "`tools`: an array of functions",
            _TOOLS,
            'if shape.type not in ("function", "custom"):\n        return with_source',
            'if shape.type != "custom":\n        return with_source',
        ),
        Mutant(
            "A tool is `{type, function: {name, description, parameters}}`",
            _TOOLS,
            "flat = _flat(raw, shape.type) if shape.name is None else None",
            "flat = None",
        ),
        Mutant(
            "`tool_choice`: auto, none, required, a function",
            _TOOLS,
            'return ToolChoice("required", (chosen,), named=True), []',
            'return ToolChoice("required"), []',
        ),
        Mutant(
            "`parallel_tool_calls`, true unless said otherwise",
            f"{_PACKAGE}/request_echo.py",
            '"parallel_tool_calls": b"true"',
            '"parallel_tool_calls": b"false"',
        ),
        Mutant(
            "Text that prints a call in XML becomes a call",
            _RECOVERY,
            "if request.options.recover_text_calls is False or",
            "if True or",
        ),
        Mutant(
            "Guarantee 1: text without markers is untouched",
            _SCANNER,
            "if self.passes(text):\n            return text\n",
            "if self.passes(text):\n            return text.rstrip()\n",
        ),
        Mutant(
            "Guarantee 2: several calls in one block",
            _RECOVERY,
            "for call in self._calls:",
            "for call in reversed(self._calls):",
        ),
        Mutant(
            "Guarantee 2: several calls in one block",
            "layers/shared/toolwire/exchange/answer_ids.py",
            "self._recovered_id() if event.recovered else ",
            "",
        ),
        Mutant(
            "Guarantee 3: the cleaned text goes on streaming",
            _RECOVERY,
            "        if shown == event.text:\n",
            "        if True:\n",
        ),
        Mutant(
            "`response.function_call_arguments.delta` and `.done`",
            _ITEM_EVENTS,
            'return emitter.event(b"response.function_call_arguments.done", place(item), said)',
            'return b""',
        ),
        Mutant(
            "`response.output_item.done` with the whole call",
            _ITEM_EVENTS,
            'return self._emitter.item_event(b"response.output_item.done", index, id, raw)',
            'return b""',
        ),
        Mutant(
            "`response.completed` with the whole output",
            _ITEM_EVENTS,
            "return [self._finished[index] for index in sorted(self._finished)]",
            "return [self._finished[index] for index in sorted(self._finished)[:1]]",
        ),
        Mutant(
            "A message's item ends after the calls' items",
            _ITEM_EVENTS,
            'if item.kind != "message" and not self._emitter.is_extended else b""',
            'if item.kind != "message" else b""',
        ),
        Mutant(
            "`function_call` becomes the assistant's call",
            _HISTORY,
            '_CALLS = ("function_call", "custom_tool_call")',
            '_CALLS = ("custom_tool_call",)',
        ),
        Mutant(
            "The example flow: call, result, answer",
            _HISTORY,
            '_RESULTS = ("function_call_output", "custom_tool_call_output")',
            '_RESULTS = ("custom_tool_call_output",)',
        ),
        Mutant(
            "Parallel calls: unique `call_id` and `output_index`",
            _ITEM_EVENTS,
            "index, self.next_index = self.next_index, self.next_index + 1",
            "index = self.next_index",
        ),
        Mutant(
            "No item ends twice",
            _ITEM_EVENTS,
            '        self.open.remove(item)\n        return self._close(item, "completed")',
            '        return self._close(item, "completed")',
        ),
        Mutant(
            "Built-in tools are filtered out",
            _FOREIGN,
            "kept = tuple(tool for tool in request.tools if not _is_foreign(tool, dialect))",
            "kept = request.tools",
        ),
        Mutant(
            "Custom tools: not yet",
            _TOOLS,
            'if kind == "custom":\n            return "custom_tool_call"',
            'if kind == "custom":\n            return "function_call"',
        ),
        Mutant(
            "Malformed arguments pass through, and are logged",
            "layers/shared/toolwire/exchange/figures.py",
            "figures.malformed_calls.append(name)",
            "pass",
        ),
        Mutant(
            "Nothing is stored",
            _FOREIGN,
            'raise RequestError(f"{what} cannot be carried',
            'RequestError(f"{what} cannot be carried',
        ),
    ],
}
