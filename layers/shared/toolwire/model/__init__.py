"""The neutral model: what a request, an answer and the settings are, as values. Imports nothing else of ours.

Read `events` first, then `request`.

    events          the neutral stream: what every provider's answer becomes, and every door writes from
    request         the neutral request: what every door parses into, and every provider builds from
    response        one whole answer
    source          the raw bytes that a request's or an answer's node was decoded from
    map_request     changes a request's messages and parts, and keeps each object that does not change
    stage           the interface of a step between a provider's decoder and a door's encoder
    errors          the tree of errors, by who broke the rule
    call_faults     what can be wrong with a tool call of an answer
    warnings        each warning's code, and what it means
    limits          every limit, with its unit and its reason
    settings        what the operator configured
    admitted        a request's tenant and settings, once its key was accepted
    http            requests, heads and headers as values
    stored          what the store keeps of a conversation
    kept_answers    what the store keeps of an answer that later requests continue from
    media_types     media types of files, by their names and first bytes
    nearest_word    the known word that a mistyped one is likely to mean
"""
