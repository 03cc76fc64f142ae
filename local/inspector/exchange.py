"""Makes the content of the page of one exchange from its bytes, when somebody opens the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from local.inspector.listing import duration
from local.shortener import Shortener, said
from local.watch.reading import Moment, Reading, client_of
from toolwire.framing import Frame, Framing
from toolwire.model.errors import GatewayError
from toolwire.model.events import TextDelta, ToolCallDelta, ToolCallEnd, ToolCallStart
from toolwire.model.request import Message, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from toolwire.policy.arguments import find_faults
from toolwire.providers import load_provider
from toolwire.shell.recording.exchange import SeenExchange

#: The most rows of a timeline, the most texts in all of them (one row has the bytes of one receive), and the most
#: characters of a text.
MOST_ROWS, MOST_TEXTS, MOST_CHARS = 1500, 6000, 4000


@dataclass(slots=True)
class Row:
    """One row of the timeline: what the provider sent at a moment, its events, and what the client was sent."""

    at: float
    since: str
    kind: str
    received: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    raw: bytes = b""
    #: The client was sent the same bytes as came.
    same: bool = False

    @property
    def texts(self) -> int:
        """The number of its texts."""
        return len(self.received) + len(self.events) + len(self.sent)


@dataclass(slots=True)
class Call:
    """A tool call of the answer."""

    name: str
    id: str
    provider_id: str | None
    has_state: bool
    recovered: bool
    arguments: str = ""
    complete: bool = False
    pieces: int = 0
    verdict: str = ""
    is_bad: bool = False
    result: str | None = None
    result_is_error: bool = False
    result_in: str | None = None


def timeline(reading: Reading) -> tuple[list[Row], bool]:
    """The rows of the timeline, in order, and whether they are complete."""
    rows: list[Row] = []
    texts, frames, sent = 0, _Frames(reading.seen), Shortener()
    for moment in reading.moments:
        note = moment.note
        if note.kind in ("asked", "head", "data", "end", "silence") or not rows:
            texts += rows[-1].texts if rows else 0
            if len(rows) >= MOST_ROWS or texts >= MOST_TEXTS:
                return rows, False
            before = rows[-1].at if rows else 0.0
            rows.append(Row(note.at, duration(note.at - before), note.kind))
        _add(rows[-1], moment, frames, sent)
    return rows, True


def _add(row: Row, moment: Moment, frames: _Frames, sent: Shortener) -> None:
    kind, what = moment.note.kind, moment.note.what
    row.events += [shortened(frames.blotted(said(event))) for event in moment.events]
    if kind == "asked":
        row.received.append(f"asked: {what.method} {what.url}, {len(what.body)} bytes")
        frames.begin(what.wire)
    elif kind == "head":
        row.received.append(f"HTTP {what.status}")
        row.received += [f"{name}: {value}" for name, value in what.headers.items()]
        frames.head(what.status, what.headers)
    elif kind == "data":
        row.raw = what
        row.received += frames.texts(what)
    elif kind == "end":
        row.received.append("the end" if what is None else f"broke off: {what.message} ({what.code})")
    elif kind == "silence":
        row.received.append("nothing came for long")
    elif kind == "sent_head":
        row.sent.append(f"HTTP {what.status}")
    elif what == row.raw:
        row.same = True
    else:
        row.sent += [shortened(frames.blotted(line)) for line in sent.lines(what)]


class _Frames:
    """Shows a provider's bytes as text: lines as they are, binary frames by their content."""

    def __init__(self, seen: SeenExchange) -> None:
        self._seen = seen
        self._shortener = Shortener()
        self._wire = ""
        self._framing: Framing | None = None

    def begin(self, wire: str) -> None:
        self._wire, self._framing = wire, None

    def head(self, status: int, headers: dict[str, str]) -> None:
        kind = headers.get("content-type", "").lower()
        if "eventstream" in kind and self._wire and status < 300:
            self._framing = load_provider(self._wire).framing(kind, b"", asked=True)

    def blotted(self, text: str) -> str:
        """A text, without a credential that it may repeat."""
        return self._seen.without_credentials(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")

    def texts(self, data: bytes) -> list[str]:
        if self._framing is None:
            return [shortened(line) for line in self._shortener.lines(self._seen.without_credentials(data))]
        try:
            return [shortened(self._shortener.short(_frame_text(frame))) for frame in self._framing.feed(data)]
        except GatewayError as error:
            return [error.message]


def _frame_text(frame: Frame) -> str:
    return f"{frame.event or ''} {frame.data.decode('utf-8', 'replace')}".strip()


def shortened(text: str) -> str:
    """A text, shortened for a page."""
    return text if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS]}… ({len(text)} characters)"


# ---------------------------------------------------------------- the picture


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark in the picture. `x` is in thousandths of its width."""

    x: float
    lane: str
    title: str


def ticks(seen: SeenExchange) -> tuple[list[Tick], str]:
    """The marks for all that came or was sent, and the duration of the exchange."""
    notes = [note for note in list(seen.notes) if note.kind in ("asked", "head", "data", "end", "sent", "silence")]
    total = max((note.at for note in notes), default=0.0) or 0.001
    found: dict[tuple[str, int], Tick] = {}
    for note in notes:
        lane = {"sent": "client", "silence": "client", "asked": "asked"}.get(note.kind, "provider")
        x = note.at / total * 1000
        found.setdefault((lane, round(x)), Tick(round(x, 1), lane, f"{note.kind} at {duration(note.at)}"))
    return list(found.values()), duration(total)


# ---------------------------------------------------------------- calls


def calls(reading: Reading, others: Iterable[SeenExchange]) -> list[Call]:
    """The calls of the answer, as far as they have come. `others`: exchanges that may have their results."""
    found: dict[int, Call] = {}
    for event in reading.events:
        if isinstance(event, ToolCallStart):
            call = Call(event.name, event.id or "", event.provider_id, event.has_state, event.recovered)
            found[event.index] = call
        elif isinstance(event, ToolCallDelta) and event.index in found:
            found[event.index].arguments += event.fragment
            found[event.index].pieces += 1
        elif isinstance(event, ToolCallEnd) and event.index in found:
            found[event.index].complete = True
            found[event.index].has_state |= event.signature is not None
    made, client = list(found.values()), client_of(reading.seen)
    schemas = {tool.name: tool for tool in client.request.tools} if client else {}
    for call in made:
        tool = schemas.get(call.name)
        call.verdict, call.is_bad = _verdict(call, tool.parameters if tool else None, known=tool is not None)
    _add_results(made, others)
    return made


def _verdict(call: Call, parameters: bytes | None, *, known: bool) -> tuple[str, bool]:
    if not call.complete:
        return "arriving", False
    if not known:
        return "the request declares no tool of this name", True
    try:
        flaws = find_faults(call.arguments or "{}", parameters)
    except (GatewayError, ValueError, RecursionError):
        return "not judged: its schema is not one", False
    if not flaws:
        return "as its schema asks", False
    return "; ".join(
        f"{flaw.path or 'the arguments'}: expected {flaw.expected}, got {flaw.got}" for flaw in flaws
    ), True


def _add_results(made: list[Call], others: Iterable[SeenExchange]) -> None:
    waiting = {call.id: call for call in made if call.id}
    if not waiting:
        return
    for other in others:
        if not other.mentions(waiting) or (client := client_of(other)) is None:
            continue
        for message in client.request.messages:
            for part in message.parts:
                if isinstance(part, ToolResultPart) and (call := waiting.get(part.tool_call_id)) is not None:
                    call.result, call.result_is_error = result_text(part), part.is_error
                    call.result_in = other.request_id


def result_text(part: ToolResultPart) -> str:
    """A result as one text."""
    texts = [it.text if isinstance(it, TextPart) else f"[{type(it).__name__}]" for it in part.content]
    return shortened("\n".join(texts))


# ---------------------------------------------------------------- the conversation


@dataclass(frozen=True, slots=True)
class Spoken:
    """A part of a turn. `provider_id`: the provider's id of a call."""

    role: str
    kind: str
    text: str
    id: str = ""
    provider_id: str = ""


def conversation(seen: SeenExchange) -> list[Spoken]:
    """The turns of the request, with each call's id here and at its provider."""
    client = client_of(seen)
    if client is None:
        return []
    return [spoken for message in client.request.messages for spoken in _spoken(message, seen)]


def _spoken(message: Message, seen: SeenExchange) -> Iterator[Spoken]:
    for part in message.parts:
        if isinstance(part, TextPart):
            yield Spoken(message.role, "text", shortened(part.text))
        elif isinstance(part, ReasoningPart):
            yield Spoken(message.role, "reasoning", shortened(part.text))
        elif isinstance(part, ToolCallPart):
            text = f"{part.name}({shortened(part.arguments)})"
            yield Spoken(message.role, "call", text, part.id, _id_there(part.id, seen))
        elif isinstance(part, ToolResultPart):
            kind = "failed result" if part.is_error else "result"
            yield Spoken(message.role, kind, result_text(part), part.tool_call_id, _id_there(part.tool_call_id, seen))
        else:
            yield Spoken(message.role, type(part).__name__.removesuffix("Part").lower(), "")


def _id_there(call_id: str, seen: SeenExchange) -> str:
    """The provider's id of a call, if it differs from the client's."""
    item = seen.found.mappings.get(call_id)
    return "" if item is None else str(item.values.get("provider_call_id", ""))


def answer_text(reading: Reading) -> str:
    """The text of the answer, without calls."""
    return shortened("".join(event.text for event in reading.events if isinstance(event, TextDelta)))
