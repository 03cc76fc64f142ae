"""The published cases (bug reports turned into inputs) that what is built must pass, and our own tests of each."""

from __future__ import annotations

from tests.cases import coverage_clients, coverage_upstreams

#: The folders of cases.
FOLDERS = ("cases", "cases-upstream", "cases-clients")

_HERE = "tests/cases"
_PROVIDERS = "tests/providers"

#: Case number -> our tests of the same fault, on our own inputs.
COVERED: dict[str, tuple[str, ...]] = {
    "001": (f"{_PROVIDERS}/openai_responses/test_answer.py::test_a_client_hears_what_was_said",),
    "002": (f"{_PROVIDERS}/gemini/test_answer.py::test_streams",),
    "004": (f"{_HERE}/test_messages.py::test_calls",),
    "005": (f"{_HERE}/test_calls.py::test_second_call_without_identity_is_a_call_of_its_own",),
    "007": (f"{_HERE}/test_messages.py::test_calls",),
    "008": (f"{_HERE}/test_messages.py::test_calls",),
    "010": (f"{_HERE}/test_responses.py::test_a_repeated_name_and_id_are_one_call",),
    "011": (f"{_HERE}/test_messages.py::test_calls",),
    "013": (f"{_PROVIDERS}/openai_responses/test_answer.py::test_repairs",),
    "014": (
        f"{_PROVIDERS}/anthropic_messages/test_answer.py::test_a_client_hears_what_was_said",
        f"{_PROVIDERS}/anthropic_messages/test_answer.py::test_a_bare_call_ends_when_it_is_known_to_be_whole",
    ),
    "017": (f"{_HERE}/test_messages.py::test_calls",),
    "019": (f"{_HERE}/test_messages.py::test_a_whole_call_streams_as_input_deltas",),
    "020": (f"{_PROVIDERS}/anthropic_messages/test_request.py::test_history",),
    "022": (
        "tests/doors/native/test_request.py::test_digits_are_kept",
        "tests/shell/serve/test_native.py::test_digits_are_kept",
    ),
    "023": (f"{_HERE}/test_messages.py::test_calls",),
    "025": (f"{_HERE}/test_requests.py::test_mistral_gets_ids_of_nine_alphanumerics",),
    "026": (f"{_HERE}/test_responses.py::test_a_long_call_id_is_shortened_on_both_ends",),
    "028": (f"{_PROVIDERS}/gemini/test_answer.py::test_ids_are_the_gateways_and_unique",),
    "032": (f"{_HERE}/test_responses.py::test_ids_of_an_item_never_change",),
    "031": (f"{_HERE}/test_messages.py::test_a_result_answers_the_call_and_not_its_item",),
    "034": (f"{_HERE}/test_messages.py::test_results_stand_right_behind_their_calls",),
    "035": (f"{_HERE}/test_responses.py::test_parallel_calls_are_one_assistant_message",),
    "029": ("tests/conversation/test_conversations.py::test_ten_turns",),
    "038": (f"{_PROVIDERS}/gemini/test_request.py::test_history",),
    "040": (f"{_PROVIDERS}/gemini/test_request.py::test_history",),
    "041": (f"{_PROVIDERS}/anthropic_messages/test_request.py::test_history",),
    "043": (f"{_PROVIDERS}/gemini/test_request.py::test_schemas_mean_the_same",),
    "044": (f"{_PROVIDERS}/gemini/test_request.py::test_schemas_mean_the_same",),
    "046": (f"{_PROVIDERS}/gemini/test_request.py::test_schemas_mean_the_same",),
    "047": (f"{_PROVIDERS}/gemini/test_request.py::test_schemas_mean_the_same",),
    "049": (f"{_HERE}/test_messages.py::test_tools_without_parameters_go_to_gemini",),
    "050": (
        "tests/conversation/test_conversations.py::test_ten_turns",
        "tests/conversation/test_provider_state.py::test_gemini_signatures_stand_on_their_own_part",
    ),
    "052": ("tests/conversation/test_conversations.py::test_ten_turns",),
    "055": (f"{_HERE}/test_messages.py::test_reasoning_after_a_call_opens_a_block_of_its_own",),
    "056": (f"{_HERE}/test_messages.py::test_a_host_gets_its_reasoning_back",),
    "058": (f"{_HERE}/test_messages.py::test_tool_choice",),
    "059": (f"{_PROVIDERS}/anthropic_messages/test_request.py::test_tool_choice",),
    "061": (
        f"{_PROVIDERS}/anthropic_messages/test_thinking_and_sampling.py::test_a_forced_choice_wins_where_the_pair_is_refused",
        f"{_PROVIDERS}/anthropic_messages/test_thinking_and_sampling.py::test_the_budget_is_below_the_output_limit",
    ),
    "064": (
        f"{_PROVIDERS}/gemini/test_answer.py::test_streams",
        f"{_PROVIDERS}/gemini/test_answer.py::test_usage_is_cumulative",
    ),
    "065": (f"{_HERE}/test_messages.py::test_calls",),
    "067": (f"{_HERE}/test_messages.py::test_a_call_cut_by_the_output_limit",),
    "068": ("tests/doors/native/test_answer.py::test_a_cut_call_is_shown_as_cut",),
    "070": (f"{_HERE}/test_messages.py::test_the_last_usage_counts",),
    "071": (f"{_HERE}/test_messages.py::test_cached_tokens_are_no_input",),
    "073": (
        "tests/doors/responses/test_stream.py::test_text_then_a_call_in_full",
        f"{_HERE}/test_responses.py::test_the_ending_needs_no_done_of_the_upstream",
    ),
    "074": (f"{_HERE}/test_responses.py::test_a_connection_that_ends_early_is_a_failure",),
    "076": (
        f"{_HERE}/test_responses.py::test_a_freeform_tool_over_a_chat_host",
        "tests/rewrite/test_custom_tools.py::test_the_text_is_the_same_whatever_the_cuts",
    ),
    "077": (f"{_HERE}/test_responses.py::test_instructions_and_developer_messages_keep_their_order",),
    "079": (f"{_PROVIDERS}/anthropic_messages/test_request.py::test_history",),
    "080": (
        f"{_HERE}/test_requests.py::test_empty_lists_and_nulls_are_left_out",
        f"{_HERE}/test_calls.py::test_no_client_gets_an_empty_list_of_calls",
    ),
    "083": (f"{_HERE}/test_messages.py::test_a_failed_result_says_so",),
    "085": (f"{_PROVIDERS}/anthropic_messages/test_request.py::test_every_schema_has_a_root_type",),
    "086": (f"{_HERE}/test_messages.py::test_long_names_stay_two_and_come_back",),
    "088": (f"{_HERE}/test_messages.py::test_services_of_anthropic_are_left_out_and_that_is_said",),
    "089": (
        f"{_PROVIDERS}/anthropic_messages/test_request.py::test_members",
        f"{_PROVIDERS}/anthropic_messages/test_request.py::test_what_cannot_be_carried_is_refused",
    ),
    "091": (f"{_HERE}/test_messages.py::test_characters_cut_between_writes",),
    "092": (f"{_HERE}/test_responses.py::test_line_separators_within_json_pass",),
    "094": (f"{_HERE}/test_calls.py::test_keep_alives_never_come_out_as_data",),
    "095": (f"{_HERE}/test_responses.py::test_a_whole_call_is_not_cut_within_a_character",),
    "097": (f"{_HERE}/test_messages.py::test_an_error_chunk_is_an_error_event",),
    "098": (f"{_HERE}/test_messages.py::test_a_busy_host_is_a_rate_limit",),
    "100": (
        f"{_HERE}/test_disconnect.py::test_client_leaves_in_the_middle",
        f"{_HERE}/test_disconnect.py::test_client_leaves_before_the_first_byte",
    ),
    "103": (
        f"{_HERE}/test_text_calls.py::test_every_format",
        f"{_HERE}/test_text_calls.py::test_text_before_between_and_after",
    ),
    "104": (f"{_HERE}/test_text_calls.py::test_every_format",),
    "106": (f"{_HERE}/test_text_calls.py::test_structure_wins_over_the_same_call_as_markup",),
    "016": (f"{_PROVIDERS}/bedrock_converse/test_answer.py::test_streams",),
    "037": (f"{_PROVIDERS}/bedrock_converse/test_request.py::test_results_of_one_turn_are_in_one_message_and_first",),
    "053": (
        f"{_PROVIDERS}/bedrock_converse/test_request.py::test_signatures_as_a_messages_client_sees_them",
        f"{_PROVIDERS}/bedrock_converse/test_answer.py::test_proofs_of_reasoning_are_its_signature",
    ),
    "062": (f"{_PROVIDERS}/bedrock_converse/test_request.py::test_a_history_with_calls_needs_tools",),
    "082": (
        f"{_PROVIDERS}/bedrock_converse/test_request.py::test_an_error_of_a_tool_is_told_as_the_model_understands_it",
    ),
    "101": (
        f"{_PROVIDERS}/gemini/test_failures.py::test_a_failed_call_before_any_content_is_an_http_error",
        f"{_PROVIDERS}/gemini/test_failures.py::test_a_failed_call_after_content_is_an_error_event",
    ),
}

COVERED |= coverage_upstreams.COVERED | coverage_clients.COVERED

#: Case number -> what it needs besides a door and a wire, and is not built yet.
LATER: dict[str, str] = coverage_upstreams.LATER | coverage_clients.LATER

#: The upstream that a case names -> the wire it is reached by.
WIRE_OF = {
    "openai": "openai_chat",
    "responses": "openai_responses",
    "compatible": "openai_chat",
    "anthropic": "anthropic_messages",
    "google": "gemini",
    "bedrock": "bedrock_converse",
}
