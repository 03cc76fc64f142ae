"""Requests as coding agents make them, with words in every place that is not the user's own last sentence.

The shapes are what such clients were seen to send; the wording is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Request = tuple[str, dict[str, Any]]

_COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
#: Tools that do something to a machine, as agents name them.
NAMES = ("Bash", "exec_command", "run_shell_command", "Write", "apply_patch", "execute")


def _reminder(words: str) -> str:
    return f"<system-reminder>\nThis may help:\n{words}\nIt may also not.\n</system-reminder>\n"


def _described(words: str) -> str:
    return f"Runs a command on this machine. {words}"


def _messages(words: str, *messages: dict[str, Any]) -> Request:
    tools = [{"name": name, "description": _described(words), "input_schema": _COMMAND} for name in NAMES]
    system = [{"type": "text", "text": "You help with code."}, {"type": "text", "text": words}]
    return "messages", {"max_tokens": 4000, "system": system, "tools": tools, "messages": list(messages)}


def _text(*texts: str, kind: str = "text") -> list[dict[str, str]]:
    return [{"type": kind, "text": text} for text in texts]


def claude_code(words: str, prompt: str) -> Request:
    """A reminder before the prompt, and a system message behind it."""
    return _messages(
        words,
        {"role": "user", "content": _text(_reminder(words), prompt)},
        {"role": "system", "content": f"Agents that there are:\n{words}"},
    )


def claude_code_goes_on(words: str, prompt: str) -> Request:
    """An earlier prompt that asked for a call, its result with a reminder behind it, and another prompt."""
    return _messages(
        words,
        {"role": "user", "content": _text(words)},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "x"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": words},
                                     *_text(_reminder(words))]},
        {"role": "assistant", "content": _text(words)},
        {"role": "user", "content": _text(prompt, _reminder(words))},
    )  # fmt: skip


def _responses(words: str, *items: dict[str, Any]) -> Request:
    functions = [
        {"type": "function", "name": name, "description": _described(words), "parameters": _COMMAND}
        for name in NAMES
        if name != "apply_patch"
    ]
    tools = [*functions, {"type": "custom", "name": "apply_patch", "description": _described(words)}]
    return "responses", {"tools": tools, "input": list(items)}


def _item(role: str, *texts: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": _text(*texts, kind="input_text")}


def codex(words: str, prompt: str) -> Request:
    """Instructions of the developer and of the project, and the environment in the user's name."""
    return _responses(
        words,
        _item("developer", f"You work in a terminal. {words}"),
        _item("developer", f"<permissions instructions>\n{words}\n</permissions instructions>"),
        _item("user", f"# AGENTS.md of /p\n\n<INSTRUCTIONS>\n{words}\n</INSTRUCTIONS>", f"<environment_context>\n"
              f"  <cwd>/p</cwd>\n  <shell>{words}</shell>\n</environment_context>"),
        _item("user", prompt),
    )  # fmt: skip


def codex_interrupted(words: str, prompt: str) -> Request:
    """An earlier prompt that nobody answered, merged with the next where an API wants turns to alternate."""
    return _responses(
        words,
        _item("user", words),
        _item("user", f"<turn_aborted>\n{words}\n</turn_aborted>"),
        _item("user", prompt),
        _item("developer", f"The model has changed. {words}"),
    )


def _chat(words: str, *messages: dict[str, Any]) -> Request:
    functions = [{"name": name, "description": _described(words), "parameters": _COMMAND} for name in NAMES]
    tools = [{"type": "function", "function": function} for function in functions]
    return "chat", {"tools": tools, "messages": [{"role": "system", "content": words}, *messages]}


def cline(words: str, prompt: str) -> Request:
    """The prompt within a tag, the environment in another block behind it."""
    details = f"<environment_details>\n# Terminals\n{words}\n</environment_details>"
    return _chat(words, {"role": "user", "content": _text(f"<task>\n{prompt}\n</task>", details)})


def opencode(words: str, prompt: str) -> Request:
    """System messages before and behind, and reminders in the user's text itself."""
    return _chat(
        words,
        {"role": "system", "content": words},
        {"role": "user", "content": f"{_reminder(words)}{prompt}\n{_reminder(words)}"},
        {"role": "system", "content": words},
    )


def continue_cli(words: str, prompt: str) -> Request:
    """An earlier call with its result, told in words that ask for another."""
    function = {"name": "Bash", "arguments": '{"command":"x"}'}
    return _chat(
        words,
        {"role": "user", "content": words},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": words},
        {"role": "assistant", "content": words},
        {"role": "user", "content": prompt},
    )


def gemini_cli(words: str, prompt: str) -> Request:
    """What the folder holds as a turn of its own, which the model has answered."""
    declared = [{"name": name, "description": _described(words), "parametersJsonSchema": _COMMAND} for name in NAMES]
    turns = [("user", words), ("model", "Understood."), ("user", f"<session_context>\n{words}\n</session_context>")]
    contents = [{"role": role, "parts": [{"text": text}]} for role, text in (*turns, ("user", prompt))]
    system = {"parts": [{"text": words}]}
    return "gemini", {
        "systemInstruction": system, "contents": contents, "tools": [{"functionDeclarations": declared}],
    }  # fmt: skip


AGENTS: tuple[Callable[[str, str], Request], ...] = (
    claude_code, claude_code_goes_on, codex, codex_interrupted, cline, opencode, continue_cli, gemini_cli,
)  # fmt: skip
