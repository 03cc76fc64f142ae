"""Two DEBUG lines for each tool call of an exchange: when it began and when it was complete; never its text."""

from __future__ import annotations

from toolwire.exchange.observer import Observer
from toolwire.model.events import Batch, ToolCallDelta, ToolCallEnd, ToolCallStart
from toolwire.shell.serve.observe import logger, short


class CallLines(Observer):
    """Writes the lines of one exchange."""

    def __init__(self, request_id: str) -> None:
        self._request_id = request_id
        self._calls: dict[int, tuple[str, int]] = {}  # part index -> name, bytes of arguments

    def batch(self, batch: Batch) -> None:
        """See `Observer`."""
        for event in batch.events:
            if isinstance(event, ToolCallStart):
                self._calls[event.index] = event.name, 0
                self._line("started", event.index)
            elif isinstance(event, ToolCallDelta):
                name, size = self._calls[event.index]
                self._calls[event.index] = name, size + len(event.fragment.encode("utf-8", "surrogatepass"))
            elif isinstance(event, ToolCallEnd):
                self._line("complete", event.index)

    def _line(self, stage: str, index: int) -> None:
        name, size = self._calls[index]
        fields = {"request_id": self._request_id, "stage": stage, "index": index, "gen_ai.tool.name": short(name)}
        logger().debug("tool call", extra=fields | {"argument_bytes": size})
