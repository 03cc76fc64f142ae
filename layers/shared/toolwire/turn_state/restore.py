"""The history as its provider knows it: its own ids, and its state where the client has dropped it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from toolwire.model.request import (
    ChatRequest,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from toolwire.model.stored import STATE_PREFIX, Item, Key
from toolwire.tool_call_ids import token_of
from toolwire.turn_state.origin import own, partition_of
from toolwire.turn_state.stored_form import Call, Opaque, Piece, Reasoning, Text, unpacked

#: Conversations that one history may lead to: it was resumed, forked or merged from that many. Newest first.
MOST_CONVERSATIONS = 16
#: States read in one turn. A longer tool loop drops its oldest by the hundred, so that what the provider is sent, and
#: can have cached, begins alike for a hundred turns.
MOST_STATES, _STATES_DROPPED = 1_000, 100

#: Parts of a history that are nothing but a provider's state.
_STATE_KINDS = frozenset({"redacted_thinking", "reasoning"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a turn looks up: the mappings of whole conversations, and the states of the tool loop it is in."""

    partitions: tuple[str, ...] = ()
    states: tuple[Key, ...] = ()


def wanted(request: ChatRequest, tenant: str) -> Wanted:
    """Nothing where no id in the history is ours, which is so for every first turn and for ids that were kept."""
    partitions: dict[str, None] = {}
    states: list[Key] = []
    in_loop = True  # up to the user's last word
    for message in reversed(request.messages):
        if message.role == "user":
            in_loop = False
        elif message.role == "assistant":
            calls = message.tool_calls
            for call in reversed(calls):
                if (token := token_of(call.id)) is not None and len(partitions) < MOST_CONVERSATIONS:
                    partitions[partition_of(tenant, token)] = None
            if in_loop and calls and (token := token_of(calls[0].id)) is not None:
                states.append(Key(partition_of(tenant, token), STATE_PREFIX + calls[0].id))
    states = [key for key in dict.fromkeys(states) if key.partition in partitions]
    if (over := len(states) - MOST_STATES) > 0:
        dropped = -(-over // _STATES_DROPPED) * _STATES_DROPPED
        del states[len(states) - dropped :]
    return Wanted(tuple(partitions), tuple(states))


@dataclass(frozen=True, slots=True)
class Found:
    """What the store had. `available` is False when it did not answer."""

    mappings: Mapping[str, Item] = field(default_factory=dict)  # by call id
    states: Mapping[str, Item] = field(default_factory=dict)  # by the id of the turn's first call
    available: bool = True

    @classmethod
    def of(cls, items: Iterable[Item], *, available: bool = True) -> Found:
        mappings, states = {}, {}
        for item in items:
            if item.key.sort.startswith(STATE_PREFIX):
                states[item.key.sort.removeprefix(STATE_PREFIX)] = item
            else:
                mappings[item.key.sort] = item
        return cls(mappings, states, available)


NOTHING_FOUND = Found()


@dataclass(frozen=True, slots=True)
class Restored:
    """The history as its provider knows it. `has_state`: something in it is the provider's opaque state."""

    request: ChatRequest
    warnings: tuple[str, ...] = ()
    has_state: bool = False


def restored(
    request: ChatRequest, found: Found, origin: str, *, same_dialect: bool, with_state: bool = True
) -> Restored:
    """The request with the ids that this origin gave, and with its state where the client has dropped it.

    `same_dialect`: the client speaks the provider's own API, so that a signature it brings may be the provider's.
    `with_state=False` leaves all state out: the provider has refused it.
    """
    restorer = _Restorer(request, found, origin, same_dialect, with_state)
    messages = tuple(restorer.message(message) for message in request.messages)
    if not found.available:
        restorer.warnings["store_unavailable"] = None
    if any(new is not old for new, old in zip(messages, request.messages, strict=True)):
        request = replace(request, messages=messages)
    return Restored(request, tuple(restorer.warnings), restorer.has_state)


class _Restorer:
    def __init__(self, request: ChatRequest, found: Found, origin: str, same_dialect: bool, with_state: bool) -> None:
        self._found, self._origin = found, origin
        self._same_dialect, self._with_state = same_dialect, with_state
        self._ids = self._provider_ids(request)
        self.warnings: dict[str, None] = {}
        self.has_state = False
        keys = wanted(request, "").states if found.mappings or found.states else ()
        self._loop = frozenset(key.sort.removeprefix(STATE_PREFIX) for key in keys)

    def _provider_ids(self, request: ChatRequest) -> dict[str, str]:
        """Client's id -> the provider's, for every call of this origin. An id that the provider has used before in this
        history stays ours, which is unique."""
        if not self._found.mappings:
            return {}
        calls = [call.id for message in request.messages for call in message.tool_calls]
        taken, ids = set(calls), {}
        for call_id in calls:
            mapping = self._found.mappings.get(call_id)
            if mapping is None or mapping.values.get("origin") != self._origin or call_id in ids:
                continue
            given = mapping.values.get("provider_call_id")
            if isinstance(given, str) and given and given not in taken:
                ids[call_id] = given
                taken.add(given)
        return ids

    def message(self, message: Message) -> Message:
        if message.role == "assistant":
            return self._assistant(message)
        if not self._ids:
            return message
        changed = [self._result(part) if type(part) is ToolResultPart else part for part in message.parts]
        return _with_parts(message, changed)

    def _result(self, part: ToolResultPart) -> ToolResultPart:
        given = self._ids.get(part.tool_call_id)
        return part if given is None else replace(part, tool_call_id=given)

    def _assistant(self, message: Message) -> Message:
        calls = message.tool_calls
        if not calls and not any(isinstance(part, ReasoningPart | OpaquePart) for part in message.parts):
            return message
        parts = self._brought(message.parts)
        if calls:
            self._check_mappings(calls)
            state = self._state(calls[0].id) if not self._brought_state(parts) else None
            if state is not None:
                parts = _merged(parts, state)
                self.has_state = True
            if self._ids:
                parts = [self._call(part) if type(part) is ToolCallPart else part for part in parts]
        return _with_parts(message, parts)

    def _call(self, part: ToolCallPart) -> ToolCallPart:
        given = self._ids.get(part.id)
        return part if given is None else replace(part, id=given, own_id=True)

    # ------------------------------------------------------------ what the client brought

    def _brought(self, parts: tuple[Part, ...]) -> list[Part]:
        """The parts with what is state in them left as it is if it is this origin's, else taken out."""
        kept: list[Part] = []
        for part in parts:
            if type(part) is ReasoningPart and part.signature is not None:
                signature = own(part.signature, self._origin, self._same_dialect) if self._with_state else None
                if signature is None:
                    self._left_out()
                self.has_state = self.has_state or signature is not None
                if signature != part.signature:
                    part = replace(part, signature=signature)
                if signature is None and not part.text:
                    continue
            elif type(part) is OpaquePart and part.kind in _STATE_KINDS:
                if not (self._same_dialect and self._with_state):
                    self._left_out()
                    continue
                self.has_state = True
            kept.append(part)
        return kept

    def _left_out(self) -> None:
        if self._with_state:
            self.warnings["state_left_out"] = None

    @staticmethod
    def _brought_state(parts: list[Part]) -> bool:
        """Whether the client has kept the turn's state itself."""
        return any(
            (type(part) is ReasoningPart and part.signature is not None)
            or (type(part) is OpaquePart and part.kind in _STATE_KINDS)
            for part in parts
        )

    # ------------------------------------------------------------ what the store has

    def _check_mappings(self, calls: tuple[ToolCallPart, ...]) -> None:
        if self._found.available and any(
            call.id not in self._found.mappings and token_of(call.id) is not None for call in calls
        ):
            self.warnings["id_mapping_missing"] = None

    def _state(self, first_call: str) -> list[Piece] | None:
        """The state of the turn that begins with this call, if this origin may have it back."""
        if first_call not in self._loop or not self._with_state:
            return None
        mapping = self._found.mappings.get(first_call)
        if mapping is not None and mapping.values.get("origin") != self._origin:
            if mapping.values.get("has_state"):
                self._left_out()
            return None
        item = self._found.states.get(first_call)
        pieces = unpacked(item) if item is not None and item.values.get("origin") == self._origin else None
        if pieces is None and mapping is not None and mapping.values.get("has_state"):
            self.warnings["state_missing"] = None
        return pieces


def _with_parts(message: Message, parts: list[Part]) -> Message:
    if len(parts) == len(message.parts) and all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return replace(message, parts=tuple(parts))


def _merged(parts: list[Part], state: list[Piece]) -> list[Part]:
    """The client's parts in the order in which the provider wrote them, with its state between them.

    The client's text is cut where the provider's runs of text ended, if it is still as long; its calls go where they
    were. What the state does not know keeps its place behind what it does.
    """
    texts = [part for part in parts if type(part) is TextPart]
    whole = "".join(part.text for part in texts)
    runs = [piece for piece in state if type(piece) is Text]
    as_written = sum(run.chars for run in runs) == len(whole)
    calls = {part.id: part for part in parts if type(part) is ToolCallPart}
    rest = [part for part in parts if not isinstance(part, TextPart | ToolCallPart | ReasoningPart)]
    signed = any(type(piece) is Reasoning for piece in state)
    merged: list[Part] = [] if signed else [part for part in parts if type(part) is ReasoningPart]
    at = 0
    for piece in state:
        match piece:
            case Reasoning(text, signature):
                merged.append(ReasoningPart(text, signature))
            case Opaque(kind, dialect, raw):
                merged.append(OpaquePart(kind, dialect, raw))
            case Text(chars, signature) if as_written:
                if chars or signature:
                    merged.append(TextPart(whole[at : at + chars], signature=signature))
                at += chars
            case Text():
                merged += texts
                texts = []
            case Call(id, signature):
                call = calls.pop(id, None)
                if call is not None:
                    merged.append(call if signature is None else replace(call, signature=signature))
    return merged + ([] if as_written else texts) + rest + list(calls.values())
