"""The published cases (bug reports turned into inputs) that what is built must pass, and our own tests of each."""

from __future__ import annotations

_HERE = "tests/cases"
_PROVIDERS = "tests/providers"

#: Case number -> our tests of the same fault, on our own inputs.
COVERED = {
    "002": (f"{_PROVIDERS}/test_google_answer.py::test_streams",),
    "005": (f"{_HERE}/test_calls.py::test_second_call_without_identity_is_a_call_of_its_own",),
    "014": (
        f"{_PROVIDERS}/test_anthropic_answer.py::test_a_client_hears_what_was_said",
        f"{_PROVIDERS}/test_anthropic_answer.py::test_a_bare_call_ends_when_it_is_known_to_be_whole",
    ),
    "020": (f"{_PROVIDERS}/test_anthropic_request.py::test_history",),
    "025": (f"{_HERE}/test_requests.py::test_mistral_gets_ids_of_nine_alphanumerics",),
    "028": (f"{_PROVIDERS}/test_google_answer.py::test_ids_are_the_gateways_and_unique",),
    "038": (f"{_PROVIDERS}/test_google_request.py::test_history",),
    "040": (f"{_PROVIDERS}/test_google_request.py::test_history",),
    "041": (f"{_PROVIDERS}/test_anthropic_request.py::test_history",),
    "043": (f"{_PROVIDERS}/test_google_request.py::test_schemas_mean_the_same",),
    "044": (f"{_PROVIDERS}/test_google_request.py::test_schemas_mean_the_same",),
    "046": (f"{_PROVIDERS}/test_google_request.py::test_schemas_mean_the_same",),
    "047": (f"{_PROVIDERS}/test_google_request.py::test_schemas_mean_the_same",),
    "059": (f"{_PROVIDERS}/test_anthropic_request.py::test_tool_choice",),
    "061": (
        f"{_PROVIDERS}/test_anthropic_settings.py::test_a_forced_choice_wins_where_the_pair_is_refused",
        f"{_PROVIDERS}/test_anthropic_settings.py::test_the_budget_is_below_the_output_limit",
    ),
    "064": (
        f"{_PROVIDERS}/test_google_answer.py::test_streams",
        f"{_PROVIDERS}/test_google_answer.py::test_usage_is_cumulative",
    ),
    "079": (f"{_PROVIDERS}/test_anthropic_request.py::test_history",),
    "080": (
        f"{_HERE}/test_requests.py::test_empty_lists_and_nulls_are_left_out",
        f"{_HERE}/test_calls.py::test_no_client_gets_an_empty_list_of_calls",
    ),
    "085": (f"{_PROVIDERS}/test_anthropic_request.py::test_every_schema_has_a_root_type",),
    "089": (
        f"{_PROVIDERS}/test_anthropic_request.py::test_members",
        f"{_PROVIDERS}/test_anthropic_request.py::test_what_cannot_be_carried_is_refused",
    ),
    "094": (f"{_HERE}/test_calls.py::test_keep_alives_never_come_out_as_data",),
    "100": (
        f"{_HERE}/test_disconnect.py::test_client_leaves_in_the_middle",
        f"{_HERE}/test_disconnect.py::test_client_leaves_before_the_first_byte",
    ),
    "101": (
        f"{_PROVIDERS}/test_google_failures.py::test_a_failed_call_before_any_content_is_an_http_error",
        f"{_PROVIDERS}/test_google_failures.py::test_a_failed_call_after_content_is_an_error_event",
    ),
}

#: Case number -> what it needs besides a door and a wire, and is not built yet.
LATER = {
    "001": "the Responses wire, which it is about",
    "029": "stored ids",
    "050": "stored state",
    "052": "stored state",
    "103": "text-call recovery",
    "104": "text-call recovery",
    "106": "text-call recovery",
}

#: The upstream that a case names -> the wire it is reached by.
WIRE_OF = {
    "openai": "openai_chat",
    "compatible": "openai_chat",
    "anthropic": "anthropic_messages",
    "google": "gemini",
    "bedrock": "bedrock_converse",
}
