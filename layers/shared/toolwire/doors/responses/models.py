"""The entry of a model in GET /models as Codex, the Responses API's coding agent, reads it."""

from __future__ import annotations


def model_entry(name: str, priority: int) -> dict[str, object]:
    """One entry as Codex reads it (`ModelInfo`, required members and those that matter here): its `model_catalog_json`
    takes the whole document. The freeform patch tool works with every provider: see `custom_tools`."""
    return {
        "slug": name,
        "display_name": name,
        "description": None,
        "priority": priority,
        "visibility": "list",
        "supported_in_api": True,
        "base_instructions": _INSTRUCTIONS,
        "shell_type": "unified_exec",
        "apply_patch_tool_type": "freeform",
        "supports_parallel_tool_calls": True,
        "supported_reasoning_levels": [],
        "support_verbosity": False,
        "truncation_policy": {"mode": "tokens", "limit": 10_000},
        "experimental_supported_tools": [],
    }


#: Codex wants instructions for each model. They say nothing of its tools, which describe themselves.
_INSTRUCTIONS = (
    "You are a coding agent in the user's workspace. Work on the task until it is done: look before you change, use "
    "the tools you have, check what you did, and say in short what you changed."
)
