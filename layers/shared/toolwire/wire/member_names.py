"""The names of a request's members in each dialect: those that its door reads, and those that are documented besides.

A member that is neither is the client's mistake, or newer than this table. Source: the types of openai-python 3.57 and
anthropic-python 2.14, and of google-genai 3.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from toolwire.wire import anthropic_messages, gemini, openai_chat, openai_responses

#: Values that are the default of their member, and so ask for nothing.
NOTHING_ASKED = {
    "exclude": b"false", "labels": b"{}", "logit_bias": b"{}", "logprobs": b"false", "metadata": b"{}",
    "modalities": b'["text"]', "prefix": b"false", "responseLogprobs": b"false", "responseModalities": b'["TEXT"]',
    "safetySettings": b"[]", "service_tier": b'"auto"', "store": b"false", "top_logprobs": b"0",
    "truncation": b'"disabled"',
}  # fmt: skip

_Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class MemberNames:
    """The names of one dialect. A member in `read` is carried, or the code that reads it warns. One in `documented` is
    named in a warning `ignored:`."""

    #: Members of the request itself.
    read: _Names
    documented: _Names
    #: Member of the request that is an object, or the path of an object in it -> its names, read and documented.
    within: dict[str, tuple[_Names, _Names]] = field(default_factory=dict)
    #: Members of messages, parts and tools: those without a warning (ids, members that the gateway or a client's SDK
    #: has added), and the other documented ones.
    silent: _Names = frozenset()
    nested: _Names = frozenset()


def _names(words: str) -> _Names:
    return frozenset(words.split())


MEMBER_NAMES: dict[str, MemberNames] = {
    openai_chat.DIALECT: MemberNames(
        read=_names(
            "model messages tools tool_choice parallel_tool_calls stream stream_options max_tokens"
            " max_completion_tokens temperature top_p seed frequency_penalty presence_penalty stop n response_format"
            " reasoning_effort functions function_call"
            " chat_template_kwargs enable_thinking reasoning thinking thinking_budget top_k"  # of compatible hosts
        ),
        documented=_names(
            "audio cache_control logit_bias logprobs metadata modalities moderation prediction"
            " prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier service_tier store"
            " top_logprobs user verbosity web_search_options"
        ),
        within={
            "stream_options": (_names("include_usage include_obfuscation"), frozenset()),
            "response_format": (_names("type json_schema schema"), frozenset()),
            "chat_template_kwargs": (_names("enable_thinking thinking"), frozenset()),
            "reasoning": (_names("effort enabled max_tokens"), frozenset()),
            "thinking": (_names("budget_tokens type"), frozenset()),
        },
        silent=_names(
            "custom index function_call"
            " parsed parsed_arguments"  # openai's `.parse()`: what content and arguments say
            " id finish_reason logprobs content_filter_results"  # of answers that are sent back whole
        ),
        nested=_names(
            "audio annotations prompt_cache_breakpoint cache_control defer_loading extra_content reasoning"
            " reasoning_details"
            " images prefix provider_specific_fields reasoning_opaque thinking_blocks"  # of compatible hosts
        ),
    ),
    openai_responses.DIALECT: MemberNames(
        read=_names(
            "model input instructions tools tool_choice parallel_tool_calls stream stream_options max_output_tokens"
            " temperature top_p frequency_penalty presence_penalty text reasoning include background"
        ),
        documented=_names(
            "access_programs background_options client_metadata context_management conversation image max_tool_calls"
            " metadata moderation previous_response_id prompt prompt_cache_key prompt_cache_options"
            " prompt_cache_retention safety_identifier service_tier store top_logprobs truncation user"
        ),
        within={
            "text": (_names("format verbosity"), frozenset()),
            "reasoning": (_names("effort summary"), _names("context generate_summary mode")),
            "stream_options": (_names("include_obfuscation"), frozenset()),
        },
        silent=_names(
            "id status type annotations logprobs phase namespace custom created_by caller defer_loading execution"
            " declared call_item found_tools environment display_width display_height pending_safety_checks"
            " acknowledged_safety_checks max_output_length parsed parsed_arguments"
        ),
        nested=_names("allowed_callers async output_schema prompt_cache_breakpoint detail"),
    ),
    gemini.DIALECT: MemberNames(
        read=_names("contents systemInstruction tools toolConfig generationConfig"),
        documented=_names("cachedContent labels safetySettings serviceTier store"),
        within={
            "generationConfig": (
                _names(
                    "candidateCount frequencyPenalty maxOutputTokens presencePenalty responseJsonSchema"
                    " responseMimeType responseSchema seed stopSequences temperature thinkingConfig topK topP"
                ),
                _names(
                    "audioTimestamp enableAffectiveDialog enableEnhancedCivicAnswers imageConfig logprobs"
                    " mediaResolution modelSelectionConfig responseLogprobs responseModalities routingConfig"
                    " speechConfig"
                ),
            ),
            "toolConfig": (
                _names("functionCallingConfig"),
                _names("includeServerSideToolInvocations retrievalConfig"),
            ),
            "generationConfig.thinkingConfig": (_names("includeThoughts thinkingBudget thinkingLevel"), frozenset()),
            "toolConfig.functionCallingConfig": (
                _names("allowedFunctionNames mode"),
                _names("streamFunctionCallArguments"),
            ),
        },
        nested=_names(
            "behavior mediaResolution partMetadata partialArgs response responseJsonSchema scheduling videoMetadata"
            " willContinue"
        ),
    ),
    anthropic_messages.DIALECT: MemberNames(
        read=_names(
            "model max_tokens messages system tools tool_choice thinking output_config output_format stop_sequences"
            " stream temperature top_p top_k"
        ),
        documented=_names(
            "betas billing_policy cache_control compaction container context_management diagnostics"
            " fallback_credit_token fallbacks inference_geo mcp_servers metadata service_tier speed thread"
            " user_profile_id workspace_id"
        ),
        within={
            "thinking": (_names("type budget_tokens"), _names("block_binding display")),
            "output_config": (_names("effort format"), _names("task_budget")),
            "tool_choice": (_names("type name disable_parallel_tool_use"), frozenset()),
        },
        silent=_names(
            "defer_loading caller"
            " parsed_output"  # anthropic's `.parse()`: what the text says
            " id type model stop_reason stop_sequence usage"  # of answers that are sent back whole
        ),
        nested=_names(
            "allowed_callers cache_control citations eager_input_streaming input_examples toolset_name transformations"
        ),
    ),
}
