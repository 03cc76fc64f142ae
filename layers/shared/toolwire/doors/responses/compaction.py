"""A compacted conversation: a host's answer, with the members that the standard requires."""

from __future__ import annotations

from toolwire.doors.responses.required_members import whole_output, with_members
from toolwire.model.errors import UpstreamProtocolError
from toolwire.wire.json import raw_members


def whole_compaction(body: bytes) -> bytes:
    """The host's own bytes, with the missing members added behind those of each item. Raises UpstreamProtocolError for
    a body that is no compacted conversation."""
    try:
        given = raw_members(body)
        output = whole_output(bytes(given["output"]), "completed", "")
        return with_members(body, {"object": b'"response.compaction"'}, {"output": output})
    except (KeyError, ValueError) as error:
        raise UpstreamProtocolError("the upstream's answer is no compacted conversation") from error
