"""Anthropic's typed tools that run at the client: a shell, an editor, a memory, a computer's screen.

A request declares them by type alone, since Claude has learned their inputs. Their calls are ordinary `tool_use` blocks
that the client answers. So any other model can get them as functions, with the inputs that Anthropic documents. Tools
of all other types run at Anthropic.

Source: the pages of Anthropic's documentation on each tool, and anthropic-python's types of their inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolwire.wire.json import dump
from toolwire.wire.tool_schemas import integer, object_schema, string

#: Members of a declaration that need no warning: `client_tool` reads them, or only Claude needs them.
DECLARED = frozenset({"display_width_px", "display_height_px", "display_number", "enable_zoom", "max_characters"})


@dataclass(frozen=True, slots=True)
class ClientTool:
    """The function for a type of tool. `name` is Anthropic's name for the tool."""

    name: str
    description: str
    schema: dict[str, Any]


def client_tool(kind: str, declared: dict[str, Any]) -> tuple[str, str, bytes] | None:
    """The name, description and schema of a tool, by its type and its declaration; None for a tool that the client does
    not run. An unknown version is read as the newest known one."""
    family, _, version = kind.rpartition("_")
    if family not in _FAMILIES or not version.isdigit():
        return None
    row = next(row for oldest, row in _FAMILIES[family] if version >= oldest or oldest == _FIRST)
    description, schema = row.description, row.schema
    if family == "computer":
        width, height = declared.get("display_width_px"), declared.get("display_height_px")
        if width and height:
            description += f" The screen is {width} pixels wide and {height} pixels high."
        if version >= _ZOOMS and declared.get("enable_zoom") is not True:
            schema = _computer(_ACTIONS)
    return row.name, description, dump(schema)


def is_toolset(kind: str) -> bool:
    """Whether the type is a set of tools that the client runs. Calls of such a tool also name the set."""
    return kind.startswith(("computer_toolset_", "browser_toolset_"))


#: Stands for every version before the next one.
_FIRST = ""


def _numbers(count: int, description: str) -> dict[str, Any]:
    return {
        "type": "array",
        "items": {"type": "integer"},
        "minItems": count,
        "maxItems": count,
        "description": description,
    }


def _choice(words: tuple[str, ...], description: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words), "description": description}


# ---------------------------------------------------------------- bash

_BASH = ClientTool(
    "bash",
    "Run a command in a bash session that keeps its state from call to call. Give `command`, or `restart` to begin "
    "a new session.",
    object_schema(
        {
            "command": string("The command to run. Required unless the session is restarted."),
            "restart": {"type": "boolean", "description": "True restarts the session."},
        }
    ),
)

# ---------------------------------------------------------------- text editor

_RANGE = "For view: the first and the last line to show, counted from 1; -1 is the end of the file."


def _editor(name: str, commands: tuple[str, ...], inserted: str) -> ClientTool:
    """The editor. The parameter for inserted text has two names, by version."""
    new_str = "For str_replace: the text to put in its place; none removes it."
    properties = {
        "command": _choice(commands, "What to do."),
        "path": string("The path of the file, or for view of a directory."),
        "view_range": _numbers(2, _RANGE),
        "file_text": string("For create: the content of the new file."),
        "old_str": string("For str_replace: the text to replace. It must be in the file exactly once."),
        "new_str": string(new_str if inserted != "new_str" else f"{new_str} For insert: the text to insert."),
        "insert_line": integer("For insert: the line behind which to insert; 0 is the beginning of the file."),
    }
    if inserted == "insert_text":
        properties["insert_text"] = string("For insert: the text to insert.")
    description = f"View, create and edit text files. Commands: {', '.join(commands)}."
    return ClientTool(name, description, object_schema(properties, "command", "path"))


_EDITS = ("view", "create", "str_replace", "insert")
_EDITOR = "str_replace_based_edit_tool"

# ---------------------------------------------------------------- memory

_MEMORY = ClientTool(
    "memory",
    "Keep notes in files under /memories that last from one conversation to the next. View the directory before you "
    "begin a task; write down what a later conversation needs.",
    object_schema(
        {
            "command": _choice((*_EDITS, "delete", "rename"), "What to do."),
            "path": string("The path under /memories. Not for rename."),
            "view_range": _numbers(2, _RANGE),
            "file_text": string("For create: the content of the file."),
            "old_str": string("For str_replace: the text to replace. It must be in the file exactly once."),
            "new_str": string("For str_replace: the text to put in its place."),
            "insert_line": integer("For insert: the line behind which to insert; 0 is the beginning of the file."),
            "insert_text": string("For insert: the text to insert."),
            "old_path": string("For rename: the path that there is."),
            "new_path": string("For rename: the new path."),
        },
        "command",
    ),
)

# ---------------------------------------------------------------- computer

_FIRST_ACTIONS = (
    "key", "type", "mouse_move", "left_click", "left_click_drag", "right_click", "middle_click", "double_click",
    "screenshot", "cursor_position",
)  # fmt: skip
_ACTIONS = (
    *_FIRST_ACTIONS, "left_mouse_down", "left_mouse_up", "triple_click", "scroll", "hold_key", "wait",
)  # fmt: skip
#: The version that has the action "zoom", which a declaration must turn on.
_ZOOMS = "20251124"


def _computer(actions: tuple[str, ...]) -> dict[str, Any]:
    properties = {
        "action": _choice(actions, "What to do."),
        "coordinate": _numbers(2, "For mouse actions: x pixels from the left edge, y pixels from the top edge."),
        "text": string("For type: the text. For key and hold_key: the key or combination, as ctrl+s."),
    }
    if "scroll" in actions:
        properties |= {
            "start_coordinate": _numbers(2, "For left_click_drag: where the drag begins."),
            "scroll_direction": _choice(("up", "down", "left", "right"), "For scroll."),
            "scroll_amount": integer("For scroll: clicks of the wheel."),
            "duration": {"type": "number", "description": "For hold_key and wait: seconds."},
        }
    if "zoom" in actions:
        properties["region"] = _numbers(4, "For zoom: x and y of the top left corner, x and y of the bottom right one.")
    return object_schema(properties, "action")


_SCREEN = "Use a computer by its screen, mouse and keyboard. Take a screenshot to see what an action has done."

#: Family -> its versions, the newest first, each with the first version that it applies to.
_FAMILIES: dict[str, tuple[tuple[str, ClientTool], ...]] = {
    "bash": ((_FIRST, _BASH),),
    "text_editor": (
        ("20250728", _editor(_EDITOR, _EDITS, "insert_text")),
        ("20250429", _editor(_EDITOR, _EDITS, "new_str")),
        (_FIRST, _editor("str_replace_editor", (*_EDITS, "undo_edit"), "new_str")),
    ),
    "memory": ((_FIRST, _MEMORY),),
    "computer": (
        (_ZOOMS, ClientTool("computer", _SCREEN, _computer((*_ACTIONS, "zoom")))),
        ("20250124", ClientTool("computer", _SCREEN, _computer(_ACTIONS))),
        (_FIRST, ClientTool("computer", _SCREEN, _computer(_FIRST_ACTIONS))),
    ),
}
