"""The published cases of what clients send (`cases-clients`), and our own tests of each."""

from __future__ import annotations

_HERE = "tests/cases"
_CLIENTS = "tests/clients"

#: Case number -> our tests of the same fault, on our own inputs.
COVERED: dict[str, tuple[str, ...]] = {
    "301": (f"{_HERE}/test_files.py::test_in_a_result",),
    "302": (f"{_HERE}/test_files.py::test_in_a_message",),
    "305": (f"{_HERE}/test_http.py::test_a_compressed_body_is_served",),
    "326": (f"{_HERE}/test_http.py::test_a_model_is_found_by_its_id",),
    "329": (
        f"{_HERE}/test_http.py::test_codex_is_told_how_to_compact",
        "tests/doors/responses/test_request.py::test_what_only_this_api_knows_is_named",
    ),
    "304": (
        f"{_HERE}/test_files.py::test_in_a_result",
        f"{_HERE}/test_files.py::test_a_client_of_the_same_api_has_its_own_bytes",
    ),
    "307": (
        f"{_CLIENTS}/test_histories.py::test_a_turn_of_reasoning_alone_is_no_empty_message",
        f"{_CLIENTS}/test_histories.py::test_reasoning_that_is_left_out_with_its_turn_is_told",
    ),
    "308": (
        f"{_CLIENTS}/test_tools.py::test_a_search_for_tools_is_a_call_whose_result_names_them",
        f"{_CLIENTS}/test_tools.py::test_at_anthropic_references_and_deferred_tools_are_the_clients_own",
    ),
    "310": (
        f"{_CLIENTS}/test_schemas.py::test_one_empty_value_for_everything",
        "tests/schema/test_repair.py::test_every_provider_gets_the_tool",
    ),
    "311": (f"{_CLIENTS}/test_schemas.py::test_a_required_name_that_is_no_property",),
    "313": (f"{_CLIENTS}/test_schemas.py::test_a_combination_at_the_root",),
    "314": (f"{_CLIENTS}/test_schemas.py::test_openai_gets_an_object_with_properties",),
    "316": (f"{_CLIENTS}/test_settings.py::test_a_format_the_provider_lacks_is_asked_for_in_words",),
    "317": (f"{_CLIENTS}/test_settings.py::test_the_output_limit_has_the_hosts_name",),
    "319": (
        f"{_CLIENTS}/test_tools.py::test_typed_client_tools_are_functions_elsewhere",
        f"{_CLIENTS}/test_tools.py::test_its_calls_come_back_by_its_name",
    ),
    "320": (
        f"{_CLIENTS}/test_histories.py::test_models_that_do_not_go_on_with_their_own_text",
        f"{_CLIENTS}/test_histories.py::test_models_that_do_are_left_to_it",
    ),
    "322": (f"{_CLIENTS}/test_schemas.py::test_pointers_into_any_place",),
    "323": (f"{_CLIENTS}/test_schemas.py::test_a_result_that_is_a_schema_stays_text",),
    "325": (f"{_CLIENTS}/test_settings.py::test_stop_sequences",),
    "328": (f"{_CLIENTS}/test_histories.py::test_results_of_one_tool_out_of_order_stay_with_their_calls",),
    "331": (f"{_CLIENTS}/test_histories.py::test_a_second_result_of_a_call_is_refused_by_its_place",),
    "332": (f"{_CLIENTS}/test_histories.py::test_an_id_that_is_used_again_keeps_both_pairs",),
}

#: Case number -> what it waits for.
LATER: dict[str, str] = {}
