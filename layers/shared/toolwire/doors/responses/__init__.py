"""OpenAI's Responses API: POST /responses. `request.DOOR` is what the registry loads.

The request:

request           the request's fields
tools             its tools and tool_choice
history           its items, as messages
history_items     one of them, or a part of one's content
kept_answers      `previous_response_id`, `item_reference` and `store`

The answer as a stream, each module in terms of those below it:

stream            writes an answer's batches: an upstream's own event as it is, all others by the writer
event_writer      finds the item of a neutral event
item_events       the events that open and end that item
open_items        the open items and their content
numbered_events   an event as bytes, numbered

The answer as one document, and what both forms have in common:

document          the answer as one JSON document
response_object   the response object, as JSON
output_items      the items of its output, as JSON
request_echo      the members of the request that the response object repeats
required_members  adds the members that Open Responses requires and a host leaves out
errors            errors

What else a client asks for:

compaction        a shorter history in place of an answer
input_items       the history that a kept answer answers, as a list of items
models            a model's entry in the list of models, as Codex reads it
"""
