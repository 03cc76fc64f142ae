"""The neutral stream: what every provider's answer becomes and every door writes from.

    ResponseStart
      ( TextStart TextDelta* TextEnd
      | ReasoningStart ReasoningDelta* ReasoningEnd
      | ToolCallStart ToolCallDelta* ToolCallEnd
      | OpaquePart )*            parts may overlap: OpenAI interleaves the deltas of parallel calls
      UsageUpdate*  Finish
    ResponseEnd  |  StreamFailed

`index` numbers the parts of one response, dense from 0 in the order in which they start, whatever their kind. Tool-call
arguments are raw JSON text from end to end. `stream/order.py` holds the legal order as a table. A JSON answer decodes
to the same events; `stream/fold.py` folds them back into one response.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct

from toolwire.model.source import Members, Source, Sourced, Value

#: Why the turn ended, in the words of the neutral model. The provider's own word is in `Finish.raw`.
FinishReason = Literal["stop", "tool_calls", "length", "content_filter"]


class Usage(Sourced, frozen=True):
    """Tokens of one response. `input_tokens` includes the cached ones, `output_tokens` the reasoning; totals are
    computed here and nowhere else. Counts a provider does not report are 0."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    #: Members of the provider's usage object that the model does not name, for clients of its own dialect.
    extra: Members = ()
    #: The provider's own total, if it is not the sum. It is only logged; clients are shown the sum.
    reported_total: int | None = None

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class ResponseStart(Struct, frozen=True, gc=False):
    """The provider has begun to answer. `id` is the provider's until the exchange has decided what the client sees;
    `created` is in seconds since 1970."""

    id: str | None
    model: str | None
    created: int | None = None


class TextStart(Struct, frozen=True, gc=False):
    """A run of text begins; `refusal` marks OpenAI's refusal text."""

    index: int
    refusal: bool = False


class TextDelta(Struct, frozen=True, gc=False):
    """More text. A msgspec Struct, since one is made for every token, and a frozen dataclass takes ten times as
    long."""

    index: int
    text: str


class TextEnd(Struct, frozen=True, gc=False):
    """`signature`: see ReasoningEnd; Google signs runs of text too."""

    index: int
    signature: str | None = None


class ReasoningStart(Struct, frozen=True, gc=False):
    """Readable reasoning begins."""

    index: int


class ReasoningDelta(Struct, frozen=True, gc=False):
    index: int
    text: str


class ReasoningEnd(Struct, frozen=True, gc=False):
    """`signature` is the provider's opaque state for this part, wanted back unchanged with it. Only the wire that made
    it can read it: a proof, encrypted reasoning, or (on the Chat wire) a JSON object of the members it wants back."""

    index: int
    signature: str | None = None


class ToolCallStart(Value, frozen=True):
    """A tool call begins. `id` is the provider's (None if it sent none) until the exchange keeps or mints one.
    `has_state`: the answer has shown state, up to here, that its API's documented fields do not hold. `provider_id` is
    None until an id is minted, then the id that the provider gave the call ("" if none). `recovered`: the model wrote
    the call as text. `early_bytes`: how many bytes of its arguments came before its name, and were held."""

    incidental: ClassVar[frozenset[str]] = frozenset({"early_bytes"})

    index: int
    id: str | None
    name: str
    kind: Literal["function", "custom"] = "function"
    extra: Members = ()
    has_state: bool = False
    provider_id: str | None = None
    recovered: bool = False
    early_bytes: int = 0


class ToolCallDelta(Struct, frozen=True, gc=False):
    """A fragment of the arguments' raw JSON text. Fragments may be cut anywhere, also inside an escape."""

    index: int
    fragment: str


class ToolCallEnd(Struct, frozen=True, gc=False):
    """The provider has ended the call (or its whole answer). Never inferred from arguments that happen to parse.
    `signature`: see ReasoningEnd."""

    index: int
    signature: str | None = None


class OpaquePart(Struct, frozen=True, gc=False):
    """A part that only its own dialect understands (server tools, citations). `raw` is a JSON object of `dialect`.
    `goes_back`: whether the provider takes it back in the history."""

    index: int
    kind: str
    dialect: str
    raw: bytes
    goes_back: bool = True


class UsageUpdate(Struct, frozen=True, gc=False):
    """The usage so far; a later update replaces it."""

    usage: Usage


class Finish(Struct, frozen=True, gc=False):
    """Why the turn ended, sent as soon as it is read. `raw` is the provider's own word (None: it sent none)."""

    reason: FinishReason
    raw: str | None = None

    @property
    def is_paused(self) -> bool:
        """Whether the provider will go on with the same turn once it is sent back (Anthropic)."""
        return self.raw == "pause_turn"

    @property
    def is_cut(self) -> bool:
        """Whether the turn ended for a reason that may have cut what came last: a limit, a filter, a refusal, a
        pause."""
        return self.reason in ("length", "content_filter") or self.is_paused


class ResponseEnd(Struct, frozen=True, gc=False):
    """The answer is complete."""

    usage: Usage | None = None


class StreamFailed(Struct, frozen=True, gc=False):
    """The answer broke off: never shown as a clean stop. `code` and `message` are safe to show; `status` is the HTTP
    status the failure would have had before the first byte."""

    code: str
    message: str
    status: int = 502


StreamEvent = (
    ResponseStart
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | OpaquePart
    | UsageUpdate
    | Finish
    | ResponseEnd
    | StreamFailed
)


class Batch(Struct, frozen=True, gc=False, eq=False):  # made for every frame: see TextDelta
    """The events of one upstream frame, in order.

    `source` is the frame's payload if a client of the same dialect may see it as it is; a frame that needed repair has
    none. A batch with a source and no events is a frame that the neutral model has no word for. `extra` holds the raw
    members that the model does not name, by the path of their object within the frame ("", "choice", "delta"). As long
    as there is a source, they are only in it; whoever drops the source fills `extra`. Only decoders set a source: a
    stage that changes a batch makes a new one without it. Batches that differ only in their source are equal.
    """

    events: tuple[StreamEvent, ...]
    extra: tuple[tuple[str, Members], ...] = ()
    source: Source | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch):
            return NotImplemented
        return self.events == other.events and self.extra == other.extra

    def __hash__(self) -> int:
        return hash((self.events, self.extra))
