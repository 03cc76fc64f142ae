"""What the providers take as schemas, by wire; "openai": a host of its wires that has rules for strict tools."""

from __future__ import annotations

from toolwire.model.request import Tool
from toolwire.providers import WIRES, load_provider
from toolwire.providers.openai_tools import STRICT_SCHEMAS
from toolwire.schema import dialects
from toolwire.schema.dialects import Adapted, SchemaDialect, SchemaMode

DIALECTS: dict[str, SchemaDialect] = {"openai": STRICT_SCHEMAS}
DIALECTS |= {wire: rules for wire in WIRES if (rules := load_provider(wire).schemas) is not None}


def adapted(tool: Tool, dialect: str, path: str, provider: str, mode: SchemaMode | None = None) -> Adapted:
    """`dialects.adapted` by the name of the rules."""
    return dialects.adapted(tool, DIALECTS[dialect], path, provider, mode)
