"""Mutants of the rows from the Responses proxy's document."""

from __future__ import annotations

from tests.mutations.mutant import Mutant

_PACKAGE = "layers/shared/toolwire/doors/responses"

MUTANTS = {
    "The Responses proxy": [
        Mutant(
            "`response.output_item.added` with `status: in_progress`",
            f"{_PACKAGE}/emitter.py",
            """id = b'"item_id":%b,' % dump(item_id) if self.is_extended else b\"\"""",
            'id = b""',
        ),
        Mutant(
            "`response.output_tool_call.begin`",
            f"{_PACKAGE}/emitter.py",
            "        if not self.is_extended:\n",
            "        if self.is_extended:\n",
        ),
        Mutant(
            "Events are numbered",
            f"{_PACKAGE}/emitter.py",
            "self.sequence, self.sequence + 1",
            "self.sequence, self.sequence + 2",
        ),
        Mutant("`response.done` is the last event", f"{_PACKAGE}/emitter.py", "return out\n", 'return b""\n'),
        Mutant("Background responses with tools", f"{_PACKAGE}/request.py", "    _check_background(top)\n", ""),
        Mutant(
            "Debug log",
            "layers/shared/toolwire/shell/serve/call_lines.py",
            'self._line("complete", name, index=event.index, argument_bytes=size)',
            'self._line("complete", name, index=event.index, argument_bytes=0)',
        ),
    ],
}
