"""Writes the schemas of tools that run at the client, for models that get them as functions."""

from __future__ import annotations

from typing import Any


def object_schema(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """The schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def string(description: str) -> dict[str, Any]:
    """The schema of a string."""
    return {"type": "string", "description": description}


def integer(description: str) -> dict[str, Any]:
    """The schema of a whole number."""
    return {"type": "integer", "description": description}
