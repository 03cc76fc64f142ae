"""Claude at Amazon Bedrock by InvokeModel: what Anthropic's own host says, each event in a frame of AWS's."""

from __future__ import annotations

import base64

from tests.framing.aws_frames import event, frame
from tests.matrix.anthropic_host import anthropic
from tests.matrix.bedrock_host import bedrock
from tests.matrix.reply import Reply, encoded
from tests.matrix.scenarios import Scenario


def bedrock_messages(scenario: Scenario, stream: bool) -> Reply:
    if scenario.failure == "refused":
        return bedrock(scenario, stream)
    said = anthropic(scenario, stream)
    if not stream:
        return said
    told = [line.removeprefix(b"data: ") for line in said.body.split(b"\n") if line.startswith(b"data: ")]
    if scenario.failure == "error":
        told.pop()
    frames = [event("chunk", encoded({"bytes": base64.b64encode(data).decode(), "p": "abcdefgh"})) for data in told]
    if scenario.failure == "error":
        headers = {":exception-type": "serviceUnavailableException", ":message-type": "exception"}
        frames.append(frame(headers, b'{"message":"Overloaded"}'))
    return Reply(200, "application/vnd.amazon.eventstream", b"".join(frames))
