"""Reads the neutral events of an exchange from the provider's bytes, when somebody opens its page.

It uses the recorder's replay, which gives the same events for the same bytes. So the events need not be kept while a
stream runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolwire.exchange.prepare import ClientRequest
from toolwire.model.events import StreamEvent
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.folder import scenario_of
from toolwire.shell.recording.notes import Note
from toolwire.shell.recording.replay import Step, client_request, replay


@dataclass(frozen=True, slots=True)
class Moment:
    """A note, and the events that it led to."""

    note: Note
    events: tuple[StreamEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """An exchange as far as it had come. `failed`: why its events cannot be read."""

    seen: SeenExchange
    moments: tuple[Moment, ...]
    failed: str = ""

    @property
    def events(self) -> Iterator[StreamEvent]:
        """All events, in order."""
        return (event for moment in self.moments for event in moment.events)


def client_of(seen: SeenExchange) -> ClientRequest | None:
    """The client's request, read and checked; None if it was refused, or cannot be read again."""
    if seen.client is not None or not seen.targets:
        return seen.client
    try:
        return client_request(scenario_of(seen, ()))
    except Exception:  # noqa: BLE001 - a bug of the gateway's is what one looks for here
        return None


def read(seen: SeenExchange) -> Reading:
    """Reads an exchange, also a running one. One that cannot be read again has no events."""
    notes = list(seen.notes)
    if seen.who is None or not seen.asked:
        return Reading(seen, tuple(map(Moment, notes)))
    failed = ""
    steps: Iterator[Step] = iter(())
    try:
        steps = iter(replay(scenario_of(seen, notes, blots=False)).steps)
    except ValueError:
        pass  # a mere question, such as how many tokens a request has: it is answered without events
    except Exception as failure:  # noqa: BLE001 - a bug of the gateway's is what one looks for here
        failed = type(failure).__name__
    return Reading(seen, tuple(_aligned(notes, steps)), failed)


def _aligned(notes: list[Note], steps: Iterator[Step]) -> Iterator[Moment]:
    """Each note with the events of its step. The last note also has the events of later steps."""
    for number, note in enumerate(notes):
        events: list[StreamEvent] = []
        if note.kind in ("data", "end"):
            for step in steps:
                events += step.events
                if step.received != b"":  # else it is a head's, or the client was kept waiting
                    break
        if number == len(notes) - 1:
            events += [event for step in steps for event in step.events]
        yield Moment(note, tuple(events))
