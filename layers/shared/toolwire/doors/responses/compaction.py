"""A compacted conversation, as a host answers it, with what the standard requires."""

from __future__ import annotations

from toolwire.doors.responses.required_members import whole_output, with_members
from toolwire.model.errors import UpstreamProtocolError
from toolwire.wire.json import raw_members


def whole_compaction(body: bytes) -> bytes:
    """The host's own bytes, with the members that it leaves out of its items behind theirs. Raises
    UpstreamProtocolError for what is no compacted conversation."""
    try:
        given = raw_members(body)
        output = whole_output(bytes(given["output"]), "completed", "")
        return with_members(body, {"object": b'"response.compaction"'}, {"output": output})
    except (KeyError, ValueError) as error:
        raise UpstreamProtocolError("the upstream's answer is no compacted conversation") from error
