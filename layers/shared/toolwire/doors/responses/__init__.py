"""OpenAI's Responses API: POST /responses. `request.DOOR` is what the registry loads.

The request:

request           the request's fields
tools             its tools and tool_choice
history           its items, as messages
history_items     one of them, or a part of one's content
kept_answers      `previous_response_id`, `item_reference` and `store`

The answer as a stream, each module in terms of those below it:

stream            an answer's batches: an upstream's own event stays as it is, any other goes to the writer
event_writer      a neutral event: which item it belongs to
item_events       the events that open and end that item
open_items        the item while it grows
numbered_events   an event as bytes, numbered

The answer as one document, and what both forms have in common:

document          the answer as one JSON document
response_object   the response object, as JSON
output_items      the items of its output, as JSON
request_echo      what the response object repeats of the request
required_members  what Open Responses requires, put in where a host leaves it out
errors            errors

What else a client asks for:

compaction        a shorter history in place of an answer
input_items       the history that a kept answer answers, as a list of items
models            a model's entry in the list of models, as Codex reads it
"""
