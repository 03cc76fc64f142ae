"""Requests as coding agents make them, with words in every place that is not the user's own last sentence.

The shapes are what such clients were seen to send; the wording is ours.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from tests.agents.real_files import png

Request = tuple[str, dict[str, Any]]

_COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
PNG = base64.b64encode(png()).decode()
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
    return "chat_completions", {"tools": tools, "messages": [{"role": "system", "content": words}, *messages]}


def cline(words: str, prompt: str) -> Request:
    """The prompt within a tag, the environment in another block behind it."""
    details = f"<environment_details>\n# Terminals\n{words}\n</environment_details>"
    return _chat(words, {"role": "user", "content": _text(f"<task>\n{prompt}\n</task>", details)})


def opencode(words: str, prompt: str) -> Request:
    """System messages before and behind, and reminders as blocks around the user's."""
    return _chat(
        words,
        {"role": "system", "content": words},
        {"role": "user", "content": _text(_reminder(words), prompt, _reminder(words))},
        {"role": "system", "content": words},
    )


def copilot_cli(words: str, prompt: str) -> Request:
    """The time and a reminder in the user's text itself."""
    time = "<current_datetime>2026-11-29T09:45:27.871+00:00</current_datetime>"
    return _chat(words, {"role": "user", "content": f"{time}\n\n{prompt}\n\n<reminder>\n{words}\n</reminder>"})


def qwen_code(words: str, prompt: str) -> Request:
    """Files that the prompt mentions, in blocks without tags behind it."""
    files = ["\n--- Content from referenced files ---", "\nContent from a.txt:\n", words, "\nContent from b c.txt:\n"]
    texts = (_reminder(words), prompt, *files, "--- End of content ---", "\nContent from d.txt:\n", words)
    return _chat(words, {"role": "user", "content": _text(*texts, "\n--- End of content ---")})


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


def _contents(words: str, *turns: tuple[str, list[dict[str, Any]]]) -> Request:
    declared = [{"name": name, "description": _described(words), "parametersJsonSchema": _COMMAND} for name in NAMES]
    contents = [{"role": role, "parts": parts} for role, parts in turns]
    system = {"parts": [{"text": words}]}
    return "gemini", {
        "systemInstruction": system, "contents": contents, "tools": [{"functionDeclarations": declared}],
    }  # fmt: skip


def _parts(*texts: str) -> list[dict[str, Any]]:
    return [{"text": text} for text in texts]


def gemini_cli(words: str, prompt: str) -> Request:
    """What the folder holds as a turn of its own, which the model has answered."""
    context = f"<session_context>\n{words}\n</session_context>"
    turns = (words, "Understood.", context)
    said = [(role, _parts(text)) for role, text in zip(("user", "model", "user"), turns, strict=True)]
    return _contents(words, *said, ("user", _parts(prompt)))


def gemini_cli_with_files(words: str, prompt: str) -> Request:
    """What the folder holds, the prompt and the files that it mentions, all in one turn."""
    context = f"<session_context>\n<project_context>\n{words}\n</project_context>\n</session_context>"
    files = (
        "\n--- Content from referenced files ---",
        "\nContent from @docs/a.md:\n",
        words,
        "\n--- End of content ---",
    )
    return _contents(words, ("user", _parts(context, prompt, *files)))


def gemini_cli_goes_on(words: str, prompt: str) -> Request:
    """A call whose result holds words, and files behind it in the user's name."""
    call = {"functionCall": {"name": "Bash", "args": {"command": "x"}}, "thoughtSignature": "c2tpcA=="}
    result = {"functionResponse": {"name": "Bash", "response": {"output": words, "error": words}}}
    picture = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    return _contents(
        words,
        ("user", _parts(words)),
        ("model", [call]),
        ("user", [result, *_parts(f"Binary content of {words}"), picture]),
        ("model", _parts(words)),
        ("user", _parts(prompt)),
    )


def claude_code_with_files(words: str, prompt: str) -> Request:
    """Messages of reminders for the files that the prompt mentions, as calls and their results; the prompt behind."""
    called = f"<system-reminder>\nCalled the Read tool with the following input: {words}\n</system-reminder>"
    result = f"<system-reminder>\nResult of calling the Read tool:\n1\t{words}\n</system-reminder>"
    return _messages(
        words,
        {"role": "user", "content": called},
        {"role": "user", "content": result},
        {"role": "user", "content": _text(_reminder(words), prompt)},
        {"role": "system", "content": _text(words, words)},
    )


def claude_code_continued(words: str, prompt: str) -> Request:
    """A summary in place of the conversation, which quotes it."""
    summary = f"This session is being continued from a previous conversation that ran out of context.\n{words}"
    return _messages(words, {"role": "user", "content": summary}, {"role": "user", "content": prompt})


def codex_compacted(words: str, prompt: str) -> Request:
    """Earlier prompts and a summary of the rest, and then another prompt."""
    summary = f"Another language model started to solve this problem and produced a summary.\n{words}"
    return _responses(words, _item("user", words), _item("user", summary), _item("user", prompt))


def documents(words: str, prompt: str) -> Request:
    """Documents beside an earlier prompt and in a result, as text, with titles and contexts of words."""
    source = {"type": "text", "media_type": "text/plain", "data": words}
    document = {"type": "document", "source": source, "title": words[:400], "context": words}
    found = {"type": "search_result", "source": "https://a.example", "title": words[:400], "content": _text(words)}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": words}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [*_text(words), document, found]}
    return _messages(
        words,
        {"role": "user", "content": [document, *_text(words)]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": _text("Done.")},
        {"role": "user", "content": prompt},
    )


AGENTS: tuple[Callable[[str, str], Request], ...] = (
    claude_code, claude_code_goes_on, claude_code_with_files, claude_code_continued, codex, codex_interrupted,
    codex_compacted, cline, opencode, copilot_cli, qwen_code, continue_cli, gemini_cli, gemini_cli_with_files,
    gemini_cli_goes_on, documents,
)  # fmt: skip
