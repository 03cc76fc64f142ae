"""Restores a request's history for its provider: the provider's own tool-call ids, and the state that the client
dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from toolwire.conversation.state_origin import is_tagged, origin_of, own
from toolwire.conversation.stored_form import Call, Opaque, Piece, Reasoning, Text, unpacked
from toolwire.conversation.tool_call_ids import Conversation, partition_of, token_of
from toolwire.model.map_request import map_messages, with_parts
from toolwire.model.request import (
    STATE_KINDS,
    ChatRequest,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.stored import NAME, STATE_PREFIX, Item, Key
from toolwire.model.warnings import Warnings

#: The most conversations that the ids of one history may lead to, the newest first. A history has ids of several where
#: a client resumed, forked or merged conversations.
MOST_CONVERSATIONS = 16
#: The most states that are read for one turn. A longer history loses its oldest states by the hundred, so that for a
#: hundred turns the provider's prompt begins with the same bytes and hits its cache.
MOST_STATES, _STATES_DROPPED = 1_000, 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a turn reads from the store: the id mappings of its conversations, and the states of its turns with calls.
    Those of tool loops that are over count, too: a provider that has no use for them leaves them out itself, and a
    prompt that changes where they were is not in its cache."""

    partitions: tuple[str, ...] = ()
    states: tuple[Key, ...] = ()


def wanted(request: ChatRequest, tenant: str, named: Conversation | None = None) -> Wanted:
    """What to read from the store for this request. Nothing if the history has no minted id: on a first turn, and where
    all ids are the provider's own. `named`: the conversation that the client names."""

    def partition(token: str) -> str:
        if named is not None and token == named.token:
            return named.partition(tenant)
        return partition_of(tenant, token)

    partitions: dict[str, None] = {}
    states: list[Key] = []
    for message in reversed(request.messages):
        calls = message.tool_calls
        for call in reversed(calls):
            if (token := token_of(call.id)) is not None and len(partitions) < MOST_CONVERSATIONS:
                partitions[partition(token)] = None
        if calls and (token := token_of(calls[0].id)) is not None:
            states.append(Key(partition(token), STATE_PREFIX + calls[0].id))
    states = [key for key in dict.fromkeys(states) if key.partition in partitions]
    if (over := len(states) - MOST_STATES) > 0:
        dropped = -(-over // _STATES_DROPPED) * _STATES_DROPPED
        del states[len(states) - dropped :]
    return Wanted(tuple(partitions), tuple(states))


def name_in(items: Iterable[Item]) -> str | None:
    """The name that a client has given the conversation of these items: they are in the partition of that name."""
    names = (item.values.get("conversation") for item in items if item.key.sort == NAME)
    return next((name for name in names if isinstance(name, str)), None)


@dataclass(frozen=True, slots=True)
class Found:
    """What the store returned. `available` is False if it did not answer."""

    mappings: Mapping[str, Item] = field(default_factory=dict)  # by call id
    states: Mapping[str, Item] = field(default_factory=dict)  # by the id of the turn's first call
    available: bool = True

    @classmethod
    def of(cls, items: Iterable[Item], *, available: bool = True) -> Found:
        mappings, states = {}, {}
        for item in items:
            if item.key.sort.startswith(STATE_PREFIX):
                states[item.key.sort.removeprefix(STATE_PREFIX)] = item
            elif item.key.sort != NAME:
                mappings[item.key.sort] = item
        return cls(mappings, states, available)


NOTHING_FOUND = Found()


@dataclass(frozen=True, slots=True)
class Restored:
    """A request whose history is as its provider knows it. `has_state`: whether it holds state of the provider's."""

    request: ChatRequest
    warnings: tuple[str, ...] = ()
    has_state: bool = False


def restored(
    request: ChatRequest, found: Found, target: Target, *, shares_state: bool, with_state: bool = True
) -> Restored:
    """The request with the ids that the target's provider made, and with the target's state where the client dropped
    it. `found` is what the store had of `wanted`.

    `shares_state`: the client gets the provider's signatures without a tag, so a signature without one may be this
    origin's. `with_state=False` removes all state: the provider refused it.
    """
    if found == NOTHING_FOUND and not any(map(_matters, chain.from_iterable(m.parts for m in request.messages))):
        return Restored(request)  # a history without ids of ours, as most are
    restorer = _Restorer(request, found, target, shares_state, with_state)
    request = map_messages(request, restorer.message)
    if not found.available:
        restorer.warnings.add("store_unavailable")
    return Restored(request, tuple(restorer.warnings), restorer.has_state)


class _Restorer:
    def __init__(
        self, request: ChatRequest, found: Found, target: Target, shares_state: bool, with_state: bool
    ) -> None:
        self._found, self._origin, self._provider = found, origin_of(target), target.provider.name
        self._shares_state, self._with_state = shares_state, with_state
        self._ids = self._provider_ids(request)
        self.warnings = Warnings()
        self.has_state = False
        keys = wanted(request, "").states if found.mappings or found.states else ()
        self._turns = frozenset(key.sort.removeprefix(STATE_PREFIX) for key in keys)

    def _provider_ids(self, request: ChatRequest) -> dict[str, str]:
        """The client's id of each call that the provider made, with whatever model -> the provider's id. A call keeps
        the minted id, which is unique, where an earlier call of the history has the same provider's id."""
        if not self._found.mappings:
            return {}
        calls = [call.id for call in request.tool_calls]
        taken, ids = set(calls), {}
        for call_id in calls:
            mapping = self._found.mappings.get(call_id)
            if mapping is None or mapping.values.get("provider") != self._provider or call_id in ids:
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
        return with_parts(message, changed)

    def _result(self, part: ToolResultPart) -> ToolResultPart:
        given = self._ids.get(part.tool_call_id)
        return part if given is None else replace(part, tool_call_id=given)

    def _assistant(self, message: Message) -> Message:
        calls = message.tool_calls
        if not calls and not any(map(_may_be_state, message.parts)):
            return message
        # Only a client of the provider's own API can bring redacted blocks back. The provider refuses a turn's thinking
        # without them, so a turn that had some goes without state.
        foreign = not self._shares_state and any(map(_is_opaque_state, message.parts))
        with_state = self._with_state and not foreign
        parts = [own for part in message.parts if (own := self._own(part, with_state)) is not None]
        if calls and self._is_others(calls[0].id):
            parts = [part for part in parts if type(part) is not ReasoningPart]
        lost = len(parts) < len(message.parts) or sum(map(_is_state, parts)) < sum(map(_is_state, message.parts))
        brought = any(map(_is_state, parts))
        state = None
        if calls:
            self._check_mappings(calls)
            # The stored state is whole and in order, so it is used even if the client brought some: the client's API
            # may have no field for the rest.
            state = self._state(calls[0].id, brought) if not (brought and self._shares_state) else None
        if state is not None:
            parts = _merged(parts, state)
        elif self._with_state and lost:
            self.warnings.add("state_left_out")
        self.has_state = self.has_state or brought or state is not None
        if self._ids:
            parts = [self._call(part) if type(part) is ToolCallPart else part for part in parts]
        return with_parts(message, parts)

    def _call(self, part: ToolCallPart) -> ToolCallPart:
        given = self._ids.get(part.id)
        if given is None:
            return part
        # Another model of the provider may have another rule for ids: what it refuses is rewritten like any other.
        own = self._found.mappings[part.id].values.get("origin") == self._origin
        return replace(part, id=given, own_id=own)

    # ------------------------------------------------------------ what the client brought

    def _own(self, part: Part, with_state: bool) -> Part | None:
        """The part with its state if this origin made it, else without. None where nothing is left of the part, and for
        reasoning whose tag names another origin."""
        if not _is_state(part):
            return part
        if type(part) is OpaquePart:
            return part if with_state else None
        assert isinstance(part, TextPart | ReasoningPart | ToolCallPart)
        assert part.signature is not None
        signature = own(part.signature, self._origin, self._shares_state) if with_state else None
        if signature == part.signature:
            return part
        if signature is None and type(part) is ReasoningPart:
            is_others = self._with_state and is_tagged(part.signature)
            if is_others or not part.text:
                return None
        return replace(part, signature=signature)

    # ------------------------------------------------------------ what the store has

    def _check_mappings(self, calls: tuple[ToolCallPart, ...]) -> None:
        if self._found.available and any(
            call.id not in self._found.mappings and token_of(call.id) is not None for call in calls
        ):
            self.warnings.add("id_mapping_missing")

    def _is_others(self, first_call: str) -> bool:
        """Whether another origin made the turn that begins with this call, as the store has it."""
        mapping = self._found.mappings.get(first_call)
        return mapping is not None and mapping.values.get("origin") != self._origin

    def _state(self, first_call: str, brought: bool) -> list[Piece] | None:
        """The stored state of the turn that begins with this call, if this origin made it. `brought`: whether the
        client sent some of it."""
        if first_call not in self._turns or not self._with_state:
            return None
        mapping = self._found.mappings.get(first_call)
        if self._is_others(first_call):
            if mapping is not None and mapping.values.get("has_state"):
                self.warnings.add("state_left_out")
            return None
        item = self._found.states.get(first_call)
        pieces = unpacked(item) if item is not None and item.values.get("origin") == self._origin else None
        if pieces is None and not brought and mapping is not None and mapping.values.get("has_state"):
            self.warnings.add("state_missing")
        return pieces


def _matters(part: Part) -> bool:
    """Whether a part needs the restorer even if the store returned nothing: it has state, or a minted id whose mapping
    is then missing."""
    if type(part) is ToolCallPart:
        return part.signature is not None or token_of(part.id) is not None
    return _may_be_state(part)


def _may_be_state(part: Part) -> bool:
    return isinstance(part, ReasoningPart | OpaquePart) or _is_state(part)


def _is_state(part: Part) -> bool:
    """Whether the part holds state of a provider's."""
    if isinstance(part, TextPart | ReasoningPart | ToolCallPart):
        return part.signature is not None
    return _is_opaque_state(part)


def _is_opaque_state(part: Part) -> bool:
    return type(part) is OpaquePart and part.kind in STATE_KINDS


def _merged(parts: list[Part], state: list[Piece]) -> list[Part]:
    """The client's parts in the order in which the provider wrote them, with the provider's state between them.

    The client's text is divided where the provider's texts ended, if both have the same length. Calls go to the places
    that they had. Parts that the state does not mention follow at the end.
    """
    texts = [part for part in parts if type(part) is TextPart]
    whole = "".join(part.text for part in texts)
    runs = [piece for piece in state if type(piece) is Text]
    as_written = sum(run.chars for run in runs) == len(whole)
    calls = {part.id: part for part in parts if type(part) is ToolCallPart}
    known = [(piece.kind, piece.dialect) for piece in state if type(piece) is Opaque]
    rest = []
    for part in parts:
        if type(part) is OpaquePart and (part.kind, part.dialect) in known:
            known.remove((part.kind, part.dialect))
        elif not isinstance(part, TextPart | ToolCallPart | ReasoningPart):
            rest.append(part)
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
