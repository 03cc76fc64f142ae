"""The stages of an answer, in their order: the gateway's own rules, between the provider's decoder and the door's
encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire.conversation import TurnRecord, origin_of, partition_of
from toolwire.conversation.tool_call_ids import token_of
from toolwire.exchange.answer_ids import AnswerIds
from toolwire.exchange.attempt import Attempt
from toolwire.exchange.figures import Figures, NoteFigures
from toolwire.exchange.request_context import RequestContext, keeps_ids
from toolwire.exchange.tag_state import TagState
from toolwire.model.events import Batch
from toolwire.model.request import ChatRequest
from toolwire.model.stage import Stage
from toolwire.policy import AnswerPolicy
from toolwire.rewrite.custom_tools import CustomCalls
from toolwire.rewrite.property_names import RestoredNames
from toolwire.rewrite.tool_names import renamed, with_wire_names
from toolwire.stream.order import OrderCheck

if TYPE_CHECKING:
    from toolwire.policy.argument_repair import ArgumentRepair
    from toolwire.stream.text_calls.recovery import TextCallRecovery


class Stages:
    """The stages of one answer. Most batches are a single delta that no stage changes, so a single delta goes only to
    the stages that act on its type."""

    def __init__(
        self,
        *,
        recover: TextCallRecovery | None,
        ids: AnswerIds,
        restored_names: RestoredNames | None,
        custom_tools: CustomCalls | None,
        repair: ArgumentRepair | None,
        policy: AnswerPolicy,
        order: OrderCheck,
        figures: NoteFigures,
        record: TurnRecord | None,
        tag: TagState | None,
    ) -> None:
        """A stage that has nothing to do in this answer is None."""
        stages: tuple[Stage | None, ...] = (
            recover,  # calls that the model wrote as text become calls
            ids,  # the response and its calls get the ids and names that the client sees
            restored_names,  # parameters get the names that the client gave them
            custom_tools,  # a call of a function that stands for a custom tool becomes a custom call
            repair,  # arguments that break their schema are repaired, where that is asked for
            policy,  # limits, the allowlist, tool_choice, validation of arguments
            order,  # checks the order of events that the stages before it have left
            figures,  # notes names and counts for the log line
            record,  # gathers the items that later turns look up
            tag,  # marks signatures with their origin for clients of another dialect
        )
        self.policy, self.order, self.record = policy, order, record
        self._stages = tuple(stage for stage in stages if stage is not None)
        #: The type of a delta -> the stages that act on it, with their places. Filled when the first such delta comes.
        self._acting: dict[type, list[tuple[int, Stage]]] = {}

    def take(self, batch: Batch) -> list[Batch]:
        """Takes a batch through the stages. Returns what the client may be shown now, maybe nothing. Raises
        UpstreamProtocolError where a stage ends the answer."""
        if len(batch.events) != 1:
            return self._through([batch], 0)
        kind = type(batch.events[0])
        acting = self._acting.get(kind)
        if acting is None:
            if kind not in Stage.deltas:
                return self._through([batch], 0)
            acting = [(place, stage) for place, stage in enumerate(self._stages) if kind in stage.deltas]
            self._acting[kind] = acting
        for place, stage in acting:
            batches = stage.take(batch)
            if len(batches) != 1 or batches[0] is not batch:
                return self._through(batches, place + 1)
        return [batch]

    def broken(self) -> list[Batch]:
        """To be called when the answer broke off. Returns the held batches that may be shown; those of each stage go
        through the stages behind it."""
        batches: list[Batch] = []
        for stage in self._stages:
            batches = [taken for batch in batches for taken in stage.take(batch)] + stage.broken()
        return batches

    def _through(self, batches: list[Batch], place: int) -> list[Batch]:
        """Takes the batches through every stage from this place on."""
        for stage in self._stages[place:]:
            batches = stage.take(batches[0]) if len(batches) == 1 else [b for held in batches for b in stage.take(held)]
        return batches


def stages_for(context: RequestContext, attempt: Attempt) -> Stages:
    """The stages of the answer to one attempt."""
    client, figures = context.client, context.figures
    request = client.request
    used = {call.id for call in request.tool_calls}
    recover = _recovery(request, attempt, figures)
    if recover is not None:
        figures.recovered = recover.recovered
    # A client of the provider's own API holds all of its state, and no id that leads to the store.
    lacks_ids = attempt.same_dialect and client.door.ids_optional
    return Stages(
        recover=recover,
        ids=AnswerIds(
            response_prefix=client.door.response_prefix,
            kept=client.door.call_id if keeps_ids(client.door, attempt.target) else None,
            keeps_response_id=attempt.same_dialect,
            missing_stays=lacks_ids,
            token=context.conversation.token,
            names={wire: name for name, wire in renamed(request, attempt.tool_names).items()},
            used=used,
            model=request.model,
            new_id=context.new_id,
            now=context.now,
            tool_names=attempt.sent_names,
            warnings=figures.warnings,
            turn=len(request.messages),
        ),
        restored_names=RestoredNames(attempt.parameter_names) if attempt.parameter_names else None,
        custom_tools=CustomCalls(request, figures.warnings) if _has_custom_tools(request) else None,
        repair=_repair(request, figures),
        policy=AnswerPolicy(request, client.rules, figures.warnings, figures.call_faults),
        order=OrderCheck(),
        figures=NoteFigures(figures, shows_opaque=client.door.shows_opaque),
        record=None if lacks_ids or not request.tools else _record(context, attempt, used),
        tag=None if attempt.shares_state else TagState(origin_of(attempt.target)),
    )


def _record(context: RequestContext, attempt: Attempt, used: set[str]) -> TurnRecord:
    """The stage that gathers what the store keeps of the turn. `used`: the ids of the history's calls."""
    tenant, token = context.client.tenant, context.conversation.token
    partition, by_token = context.conversation.partition(tenant.name), partition_of(tenant.name, token)
    is_new = all(token_of(id) != token for id in used)
    return TurnRecord(
        attempt.target,
        partition,
        context.expires_at,
        token_partition=by_token if is_new and partition != by_token else None,
        keeps_state=tenant.store_state,
        keeps_plain_reasoning=attempt.profile.yields_state,
    )


def _has_custom_tools(request: ChatRequest) -> bool:
    return any(tool.kind == "custom" for tool in request.tools)


def _repair(request: ChatRequest, figures: Figures) -> ArgumentRepair | None:
    """The stage that repairs arguments; None for requests that do not ask for it."""
    if not request.options.repair_arguments or not request.tools:
        return None
    from toolwire.policy.argument_repair import ArgumentRepair  # for few requests: not at a cold start

    return ArgumentRepair(request, figures.warnings)


def _recovery(request: ChatRequest, attempt: Attempt, figures: Figures) -> TextCallRecovery | None:
    """The stage that makes calls of what the model writes as text; None where that is not done."""
    if not attempt.profile.recovers_text_calls or not attempt.provider.may_write_calls_as_text:
        if request.options.recover_text_calls:
            figures.warnings.add("not_supported:recover_text_calls")
        return None
    if not request.tools:
        return None
    from toolwire.stream.text_calls.recovery import (  # for few hosts: not at a cold start
        TextCallRecovery,
        recoverable,
    )

    tools = recoverable(with_wire_names(request, attempt.tool_names))
    return TextCallRecovery(tools, figures.warnings) if tools else None
