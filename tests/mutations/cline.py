"""Mutants of the rows from Cline's data model."""

from __future__ import annotations

from tests.mutations.mutant import Mutant

_PACKAGE = "layers/shared/toolwire"
_HISTORY = f"{_PACKAGE}/doors/chat_completions/history.py"
_REQUEST = f"{_PACKAGE}/doors/chat_completions/request.py"
_TOOLS = f"{_PACKAGE}/doors/chat_completions/tools.py"
_DEFINITIONS = f"{_PACKAGE}/policy/definitions.py"
_ARGUMENTS = f"{_PACKAGE}/policy/arguments.py"
_STRICT = f"{_PACKAGE}/schema/strict.py"

MUTANTS = {
    "Cline: message": [
        Mutant(
            "`tool_call_id` matches a call of an earlier message",
            f"{_PACKAGE}/rewrite/history.py",
            "if results[part.tool_call_id] <= calls[part.tool_call_id]:",
            "if True:",
        ),
    ],
    "Cline: tool call and invocation": [
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
        Mutant(
            "`total_tokens` is the sum",
            f"{_PACKAGE}/doors/openai_usage.py",
            '"total_tokens": usage.total_tokens',
            '"total_tokens": usage.input_tokens',
        ),
    ],
}
