"""The request of InvokeModel and InvokeModelWithResponseStream for Claude.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from toolwire.framing import Framing
from toolwire.model.errors import UpstreamError
from toolwire.model.http import Headers, UpstreamRequest
from toolwire.model.settings import Target
from toolwire.model.warnings import Warnings
from toolwire.providers import Decoder
from toolwire.providers.anthropic_messages.cloud import in_body
from toolwire.providers.anthropic_messages.models import Family
from toolwire.providers.anthropic_messages.request import AnthropicMessages
from toolwire.providers.bedrock_converse.errors import error_of
from toolwire.providers.bedrock_converse.models import family_of
from toolwire.providers.bedrock_converse.request import framing_of, invocation
from toolwire.providers.bedrock_messages.answer import InvokedDecoder
from toolwire.providers.decoder_context import DecoderContext
from toolwire.wire.json import write_object

if TYPE_CHECKING:
    from toolwire.providers.token_count import Count

#: Bedrock's name for the version of the API, for every Claude.
_VERSION = "bedrock-2023-05-31"


class BedrockMessages(AnthropicMessages):
    """See `providers.Provider`."""

    may_write_calls_as_text = False  # the vendor's own models
    any_model = "anthropic.claude"

    def family(self, target: Target) -> Family:
        structured = family_of(target.known_as).structured_output
        return replace(super().family(target), structured_output=structured, signs_thinking=True)

    def posted(
        self,
        target: Target,
        members: Iterable[tuple[str, bytes]],
        own: Headers,
        credential: str | None,
        warnings: Warnings,
        *,
        stream: bool,
    ) -> UpstreamRequest:
        body = write_object(in_body(members, own, _VERSION, warnings))
        return invocation(target, "invoke-with-response-stream" if stream else "invoke", body, credential, stream)

    def framing(self, content_type: str, start: bytes, *, asked: bool) -> Framing | None:
        return framing_of(content_type) or super().framing(content_type, start, asked=asked)

    def decoder(self, context: DecoderContext) -> Decoder:
        return InvokedDecoder(context)

    def parse_error(self, status: int, headers: dict[str, str], body: bytes) -> UpstreamError:
        return error_of(status, headers, body)

    def count_request(self, request: UpstreamRequest) -> Count | None:
        from toolwire.providers.bedrock_messages.token_count import (
            count_request,  # for few requests: not at a cold start
        )

        return count_request(request)


PROVIDER = BedrockMessages()
