"""Rewrites custom (freeform) tools for providers that only know functions: to a function with one string, and its calls
back.

OpenAI's custom tools take plain text, no JSON; Codex sends its patches so. Any other provider is sent a function whose
one parameter `input` is that text (`bridged`). The arguments of a call, `{"input": "..."}`, are shown as the text in
them, piece by piece while they stream (`CustomCalls`). The names stay the same, so a door recognises these calls by the
request's own tools.
"""

from __future__ import annotations

import json
import re
from typing import Literal

import msgspec

from toolwire.model.events import ToolCallStart
from toolwire.model.map_request import map_messages, map_parts
from toolwire.model.request import ChatRequest, Part, Tool, ToolCallPart
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.rewrite.call_text import CallTextStage
from toolwire.wire.json import dump

#: The parameter that stands for the text of a custom tool.
INPUT = "input"

_PARAMETERS = dump(
    {
        "type": "object",
        "properties": {INPUT: {"type": "string", "description": "The whole input of the tool, as plain text."}},
        "required": [INPUT],
        "additionalProperties": False,
    }
)

#: The beginning of such a function's arguments, without white space.
_HEAD = re.compile(r'\s*\{\s*"input"\s*:\s*"')
_PLAIN_HEAD = '{"input":"'
#: Characters and whole escapes of a JSON string.
_RUN = re.compile(r'[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\]*)*')
#: An escape that may go on in the next fragment.
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?")
#: The first half of a surrogate pair at the end of a run, which waits for the second.
_HALF_PAIR = re.compile(r"\\u[dD][89abAB][0-9A-Fa-f]{2}\Z")
_WHITE = re.compile(r"\s+")

#: Warning: a model gave such a function more than the one argument it has.
_MORE = "custom_tool_arguments_dropped"


# ---------------------------------------------------------------- the request


def bridged(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with functions in place of custom tools and of their calls, with a warning if such tools were
    declared; the same object if it has none."""
    if any(tool.kind == "custom" for tool in request.tools):
        tools = tuple(_function(tool) if tool.kind == "custom" else tool for tool in request.tools)
        request = replace(request, tools=tools)
        warnings.add("custom_tool_as_function")
    return map_messages(
        request, lambda message: map_parts(message, _bridged_part) if message.role == "assistant" else message
    )


def _function(tool: Tool) -> Tool:
    """The function that stands for a custom tool. A grammar is put in the description, since no other API has a field
    for it."""
    texts = [tool.description] if tool.description else []
    grammar = _grammar(tool)
    if grammar is not None:
        texts.append("`input` must match this {} grammar:\n{}".format(*grammar))
    return Tool(tool.name, "\n\n".join(texts) or None, _PARAMETERS)


def _grammar(tool: Tool) -> tuple[str, str] | None:
    """(syntax, definition) of a custom tool's format. Doors leave the tool in `extra` as the Chat API has it."""
    match msgspec.json.decode(dict(tool.extra).get("custom", b"null")):
        case {"format": {"grammar": {"syntax": str(syntax), "definition": str(definition)}}}:
            return syntax, definition
    return None


def _bridged_part(part: Part) -> Part:
    if type(part) is not ToolCallPart or part.kind != "custom":
        return part
    arguments = dump({INPUT: part.arguments}).decode("utf-8", "surrogatepass")
    return replace(part, kind="function", arguments=arguments, extra=())


# ---------------------------------------------------------------- the answer


class CustomCalls(CallTextStage["InputText"]):
    """The stage that turns calls of these functions into calls of the custom tools."""

    def __init__(self, request: ChatRequest, warnings: Warnings) -> None:
        """`warnings`: gets the warnings about content that is lost."""
        super().__init__()
        self._warnings = warnings
        self._names = frozenset(tool.name for tool in request.tools if tool.kind == "custom")

    def rewriter(self, call: ToolCallStart) -> InputText | None:
        """See `CallTextStage`."""
        return InputText() if call.kind == "function" and call.name in self._names else None

    def started(self, call: ToolCallStart) -> ToolCallStart:
        """See `CallTextStage`."""
        return replace(call, kind="custom")

    def ended(self, rewriter: InputText) -> None:
        """See `CallTextStage`."""
        if rewriter.has_more:
            self._warnings.add(_MORE)


class InputText:
    """Reads the text out of `{"input": "..."}`, which comes in pieces cut anywhere.

    Arguments of another form are not lost. The text may stand behind another member (`has_more`), or be the only member
    under another name, as some models write. If the arguments are no such object, they are the text itself.
    """

    def __init__(self) -> None:
        self._held = ""  # what is not decided yet
        self._state: Literal["head", "text", "tail", "other"] = "head"
        self.has_more = False  # whether there was more than the text

    def feed(self, fragment: str) -> str:
        """The text that this fragment adds."""
        if self._state == "tail":
            self.has_more = self.has_more or _WHITE.sub("", fragment) not in ("", "}")
            return ""
        self._held += fragment
        if self._state == "head":
            head = _HEAD.match(self._held)
            if head is None:
                if not _PLAIN_HEAD.startswith(_WHITE.sub("", self._held)):
                    self._state = "other"
                return ""
            self._state, self._held = "text", self._held[head.end() :]
        return self._text() if self._state == "text" else ""

    def end(self) -> str:
        """The rest of the text, when the call has ended. An incomplete escape at its end is dropped."""
        held, self._held = self._held, ""
        if self._state in ("text", "tail"):
            return ""
        try:
            given = json.loads(held, strict=False) if held.strip() else {}
        except (ValueError, RecursionError):
            return held
        if not isinstance(given, dict):
            return held
        values = [given[INPUT]] if isinstance(given.get(INPUT), str) else list(given.values())
        if not values:
            return ""
        if len(values) > 1 or not isinstance(values[0], str):
            return held
        self.has_more = len(given) > 1
        return values[0]

    def _text(self) -> str:
        """The characters of the string that are certain, up to its end."""
        found = ""
        while self._held:
            run = _RUN.match(self._held)
            stop = run.end() if run else 0
            rest = self._held[stop:]
            is_cut = not rest or _CUT_ESCAPE.fullmatch(rest) is not None
            if is_cut and (half := _HALF_PAIR.search(self._held, 0, stop)):
                stop = half.start()
            found += json.loads(f'"{self._held[:stop]}"', strict=False)
            self._held = self._held[stop:]
            if is_cut:
                break
            if rest[0] == '"':
                self._state, self._held = "tail", ""
                self.feed(rest[1:])
            else:  # not an escape of JSON, as models write in patterns: taken literally
                found, self._held = found + rest[0], rest[1:]
        return found
