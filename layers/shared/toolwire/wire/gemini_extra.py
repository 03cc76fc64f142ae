"""Reads the members of an answer, or of a chunk of one, that the neutral model does not name, when its bytes cannot be
shown.

The paths of a batch's `extra`: "chunk" (the answer itself) and "candidate".
"""

from __future__ import annotations

from toolwire.model.events import Batch
from toolwire.model.source import Members
from toolwire.wire.json import elements, unnamed

_CHUNK = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId"})
_CANDIDATE = frozenset({"content", "finishReason", "index"})


def without_source(batch: Batch, raw: bytes) -> Batch:
    """The batch without its source, whose bytes are `raw`. The members that only these had are its `extra`."""
    candidates = dict(unnamed(raw, _CHUNK - {"candidates"})).get("candidates", b"[]")
    first = elements(candidates)[:1] if candidates[:1] == b"[" else []
    found: list[tuple[str, Members]] = [("chunk", unnamed(raw, _CHUNK))]
    found += [("candidate", unnamed(candidate, _CANDIDATE)) for candidate in first if candidate[:1] == b"{"]
    return Batch(batch.events, tuple((path, extra) for path, extra in found if extra))
