"""No vendor's name outside the rooms that are about one: what a vendor needs is a property of its door or provider, so
that a new one touches nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from toolwire.providers import WIRES

PACKAGE = Path(__file__).parents[1] / "layers" / "shared" / "toolwire"

#: Folders whose files are each about one protocol or vendor, or are tables of hosts.
ROOMS = ("demo", "doors", "providers", "wire")

#: Files that are about one vendor each, and tables whose rows are named after whom they are about.
TABLES = {
    "shell/access/aws_signing.py": "the signature of one cloud, and what to set where it cannot be made",
    "shell/access/cloud_tokens/entra.py": "the access tokens of one cloud, by its own documents",
    "shell/access/cloud_tokens/google.py": "the access tokens of one cloud, by its own documents",
    "shell/recording/credentials.py": "the headers of each API that hold no credential",
    "stream/text_calls/formats.py": "how models write calls as text, by the models' makers",
    "stream/text_calls/token_formats.py": "the same, between tokens of the models' own",
    "stream/text_calls/xml_formats.py": "the same, as XML",
}

_NAMES = (
    "openai", "anthropic", "claude", "gemini", "goog", "vertex", "bedrock", "azure", "mistral", "deepseek", "codex",
    "qwen", "dashscope", "moonshot", "kimi", "minimax", "groq", "grok", "cohere", "cerebras", "llama", "vllm",
    "openrouter",
)  # fmt: skip
VENDORS = re.compile("|".join((*WIRES, *_NAMES)), re.IGNORECASE)


def test_no_vendor_is_named_outside_its_room() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in ROOMS and str(path.relative_to(PACKAGE)) not in TABLES
        if VENDORS.search(source := path.read_text("utf-8"))
        for line, text in named(ast.parse(source))
        if VENDORS.search(text)
    ]
    assert found == []


def named(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every name and text of the code, with its line. Code does not go by what docstrings and comments tell."""
    told = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) | ast.Constant(value=bytes(text)) if id(node) not in told:
                yield node.lineno, text if isinstance(text, str) else text.decode("latin-1")
            case ast.Name(id=text) | ast.Attribute(attr=text) | ast.arg(arg=text) | ast.alias(name=text):
                yield node.lineno, text
            case ast.FunctionDef(name=text) | ast.ClassDef(name=text):
                yield node.lineno, text
            case ast.ImportFrom(module=str(text)):
                yield node.lineno, text
