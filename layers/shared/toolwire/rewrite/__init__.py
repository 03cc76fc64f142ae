"""Rewrites a neutral request so that a provider can take it.

CONTRIBUTING.md has the order in which the steps are applied.

    history              each result has its call, each call its result, each id the form that the provider takes
    alternating_turns    the order of turns that the strictest hosts ask for
    images_and_files     images and files as the wire can carry them
    unseen_images        images in words, for models that read text alone
    tool_names           names of tools that a provider refuses, and back
    long_descriptions    descriptions of tools that are too long for the host
    property_names       names of parameters that a provider refuses, and back
    custom_tools         freeform tools as functions, and back
    deferred_tools       tools that are declared only after a search has found them
    call_text            rewrites the text of some calls of an answer
    client_dialect       fields and content that only the client's API has
    unread_members       warns of each member that the provider does not get
    prompt_cache         marks for the provider's prompt cache
    output_limit         the output limit, within what the host takes
    stop_sequences       stop sequences, within what the provider takes
    refused_settings     settings that a host has refused
    answer_format        the format of an answer, asked for in words
"""
