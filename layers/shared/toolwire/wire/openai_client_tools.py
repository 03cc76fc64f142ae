"""OpenAI's typed tools that run at the client: two shells, patches, a computer's screen.

A request declares them by type alone, since OpenAI's models have learned their inputs. Their calls and outputs are
items of types of their own, for which the client's code is written. So any other model gets them as functions, with the
inputs that OpenAI documents, and its calls become those items. Tools of all other types run at OpenAI, and so does a
shell in a container.

Source: OpenAI's guides to each tool, and openai-python's types of their items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from toolwire.wire.json import dump, elements, members, write_object
from toolwire.wire.tool_schemas import integer, object_schema, string


@dataclass(frozen=True, slots=True)
class ClientTool:
    """The function for a type of tool. `call` is the type of the items of its calls."""

    name: str
    call: str
    description: str
    schema: bytes


@dataclass(frozen=True, slots=True)
class CallForm:
    """The form of a call's item: the tool's name, and the member that holds the arguments."""

    name: str
    member: str


#: Type of a call's item -> its form. A computer's call may have several actions instead (`actions`).
CALLS: Final = {
    "local_shell_call": CallForm("local_shell", "action"),
    "shell_call": CallForm("shell", "action"),
    "apply_patch_call": CallForm("apply_patch", "operation"),
    "computer_call": CallForm("computer", "action"),
}
OUTPUTS: Final = frozenset(f"{kind}_output" for kind in CALLS)

#: Members by which a tool keeps its declaration, and a call the type of its item: the door's marks, no API's.
DECLARED, ITEM = "declared", "call_item"

#: The only member of a computer call's arguments if it has more than one action.
ACTIONS: Final = "actions"
#: The member for arguments that are no JSON object. The client cannot run them by mistake, and they are not lost.
_RAW = "_raw_arguments"
#: What an item holds although it says nothing.
_ALWAYS = {"shell_call": {"commands": b"[]"}, "local_shell_call": {"command": b"[]", "env": b"{}"}}


def client_tool(kind: str, raw: bytes) -> ClientTool | None:
    """The tool of this type by its declaration; None for one that the client does not run."""
    if kind == "shell":
        return None if is_hosted(members(raw)) else _SHELL
    if kind == "computer_use_preview":
        return _preview({name: value for name, value in members(raw).items() if name in _SCREEN_SIZE})
    return _TOOLS.get(kind)


def is_hosted(item: dict[str, bytes]) -> bool:
    """Whether a tool, or a call of it, given its members, is for a container of OpenAI's."""
    environment = item.get("environment", b"null")
    return environment[:1] == b"{" and members(environment).get("type", b"").startswith(b'"container')


def call_members(kind: str, arguments: str) -> list[tuple[str, bytes]]:
    """The members of an item of this type for a call of the function with these arguments."""
    given = _object(arguments)
    if kind == "local_shell_call":
        given = {"type": b'"exec"'} | {name: value for name, value in given.items() if name != "type"}
    told = _ALWAYS.get(kind, {}) | given
    if kind != "computer_call":
        return [(CALLS[kind].member, write_object(told.items()))]
    action = [(ACTIONS, told[ACTIONS])] if ACTIONS in told else [("action", write_object(told.items()))]
    return [*action, ("pending_safety_checks", b"[]")]


def call_arguments(kind: str, item: dict[str, bytes]) -> str:
    """The arguments of the function's call for an item of this type with these members."""
    told = item.get(CALLS[kind].member, b"null")
    if told[:1] != b"{":
        told = write_object([(ACTIONS, item[ACTIONS])]) if item.get(ACTIONS, b"")[:1] == b"[" else b"{}"
    if kind == "local_shell_call":
        told = write_object((name, value) for name, value in members(told).items() if name != "type")
    return told.decode("utf-8", "surrogatepass")


def output_members(kind: str, text: str, image_url: str | None, *, is_error: bool) -> list[tuple[str, bytes]]:
    """The members of the output's item for a call of this type, without its id, given the tool's result."""
    match kind:
        case "shell_call":
            outcome = {"type": "exit", "exit_code": int(is_error)}
            told = {"stdout": "" if is_error else text, "stderr": text if is_error else "", "outcome": outcome}
            return [("output", text.encode() if _is_array(text) else dump([told]))]
        case "apply_patch_call":
            return [("status", dump("failed" if is_error else "completed")), ("output", dump(text))]
        case "computer_call":
            return [("output", dump({"type": "computer_screenshot", "image_url": image_url}))]
        case _:
            return [("output", dump(text))]


def _object(arguments: str) -> dict[str, bytes]:
    """The members of a call's arguments, and what stands for them where they are none."""
    if not arguments.strip():
        return {}
    try:
        return members(arguments.encode("utf-8", "backslashreplace"))
    except ValueError:  # no object, or half a surrogate pair
        return {_RAW: dump(arguments)}


def _is_array(text: str) -> bool:
    try:
        return bool(elements(text.encode()))
    except ValueError:
        return False


# ---------------------------------------------------------------- what models are told


def _texts(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


_LOCAL_SHELL = ClientTool(
    "local_shell",
    "local_shell_call",
    "Run one command on the user's machine. It is run as it is, without a shell: for pipes and the like run one, as in "
    '["bash", "-lc", "ls | wc -l"].',
    dump(
        object_schema(
            {
                "command": _texts("The program and its arguments."),
                "env": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                    "description": "Environment variables to set.",
                },
                "timeout_ms": integer("Milliseconds after which to stop it."),
                "user": string("The user to run it as."),
                "working_directory": string("The directory to run it in."),
            },
            "command",
        )
    ),
)

_SHELL = ClientTool(
    "shell",
    "shell_call",
    "Run shell commands on the user's machine. Commands that do not depend on one another can go into one call.",
    dump(
        object_schema(
            {
                "commands": _texts("The commands, each a line of shell."),
                "timeout_ms": integer("Milliseconds after which to stop them."),
                "max_output_length": integer("Characters of output that are wanted at most."),
            },
            "commands",
        )
    ),
)

_APPLY_PATCH = ClientTool(
    "apply_patch",
    "apply_patch_call",
    "Create, update or delete one file. `diff` is in the V4A format: for a new file every line begins with +. For an "
    "update there are sections that begin with a line of @@, which may be followed by the class or function that they "
    "are in; below it about three lines of context, each after a space, then lines to remove after -, lines to add "
    "after +, and about three lines of context again. No line numbers, no headers with file names.",
    dump(
        object_schema(
            {
                "type": {
                    "type": "string",
                    "enum": ["create_file", "update_file", "delete_file"],
                    "description": "What to do.",
                },
                "path": string("The file's path, relative to the workspace."),
                "diff": string("For create_file and update_file: the diff."),
            },
            "type",
            "path",
        )
    ),
)

_ACTION = object_schema(
    {
        "type": {
            "type": "string",
            "enum": ["click", "double_click", "drag", "keypress", "move", "screenshot", "scroll", "type", "wait"],
            "description": "What to do.",
        },
        "x": integer("For click, double_click, move, scroll: pixels from the left edge."),
        "y": integer("For click, double_click, move, scroll: pixels from the top edge."),
        "button": {
            "type": "string",
            "enum": ["left", "right", "wheel", "back", "forward"],
            "description": "For click: required.",
        },
        "scroll_x": integer("For scroll: pixels to the right."),
        "scroll_y": integer("For scroll: pixels down."),
        "keys": _texts("For keypress: the keys to press together. For mouse actions: keys held meanwhile."),
        "text": string("For type: the text."),
        "path": {
            "type": "array",
            "items": object_schema({"x": {"type": "integer"}, "y": {"type": "integer"}}, "x", "y"),
            "description": "For drag: the points to drag through.",
        },
    },
    "type",
)
_SCREEN = "Use a computer by its screen, mouse and keyboard. The result is a screenshot"
_COMPUTER = ClientTool(
    "computer",
    "computer_call",
    f"{_SCREEN}. Actions that need no look in between can go into one call.",
    dump(
        object_schema({ACTIONS: {"type": "array", "items": _ACTION, "description": "The actions, in order."}}, ACTIONS)
    ),
)
_SCREEN_SIZE = ("display_width", "display_height", "environment")


def _preview(declared: dict[str, bytes]) -> ClientTool:
    """The older computer tool: one action a call, and the screen's size in its declaration."""
    told = " ".join(f"{name}: {value.decode('utf-8', 'replace')[:40]}." for name, value in declared.items())
    return ClientTool("computer", "computer_call", f"{_SCREEN}. {told}".rstrip(), dump(_ACTION))


_TOOLS = {"local_shell": _LOCAL_SHELL, "apply_patch": _APPLY_PATCH, "computer": _COMPUTER}
