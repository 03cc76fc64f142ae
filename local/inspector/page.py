"""Makes a page of the inspector from a template: escapes every text, and shows invisible characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from local.inspector.guard import HEADERS
from toolwire.model.http import Head, Headers

_HERE = Path(__file__).parent
_HTML = "text/html; charset=utf-8"

#: Characters that are invisible, or that change the order of others: controls, directions, zero-width spaces, tags,
#: halves of a character. Joiners are not among them: scripts and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


#: A sign within a name, behind which a line may break. An entity ("&amp;") has none of these.
_SIGN = re.compile(r"([/_:.])(?=\w)")


class Verbatim(str):
    """A text to copy from the page, which stays as it is."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Page:
    """An answer. With `news` it is a stream, whose pieces follow the body."""

    status: int
    kind: str
    body: bytes
    headers: Headers = ()
    news: Iterator[bytes] | None = field(default=None, compare=False)

    @property
    def head(self) -> Head:
        """Its head."""
        return Head(self.status, (("content-type", self.kind), *HEADERS, *self.headers))


def visible(value: object) -> object:
    """A value for a page. Hidden characters of a plain text are shown as JSON would escape them."""
    return _HIDDEN.sub(_escaped, value) if type(value) is str else value


def breakable(text: str) -> Markup:
    """A name for a narrow column. A long one breaks behind a sign, not within a word."""
    return Markup(_SIGN.sub("\\1<wbr>", str(escape(visible(text)))))  # noqa: S704 - escaped before


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@cache
def templates() -> Environment:
    """The templates."""
    loader = FileSystemLoader(_HERE / "templates")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, finalize=visible)
    made.filters["breakable"] = breakable
    return made


@cache
def static_file(name: str) -> bytes:
    """The style or the script."""
    return (_HERE / "static" / name).read_bytes()


def html(status: int, template: str, **values: Any) -> Page:
    """The page of a template."""
    text = templates().get_template(template).render(values)
    return Page(status, _HTML, text.encode("utf-8", "replace"))


def redirect(place: str) -> Page:
    """The way to another page."""
    return Page(303, _HTML, b"", (("location", place),))
