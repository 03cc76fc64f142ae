"""OpenAI's Responses API: POST /responses. `request.DOOR` is what the registry loads.

request          the request's fields
tools            its tools and tool_choice
history          its items, as messages
stream           the answer as events: what of it is the upstream's own, failures, keep-alives
writer           neutral events as this API's
output           the events that open and end the answer's items
open_items       an item while it grows
emitter          events as bytes, numbered
items            items as JSON
response_object  the response object as JSON
request_echo     what that repeats of the request
required         what Open Responses requires, put in where a host leaves it out
document         the answer as one JSON document
compaction       a shorter history in place of an answer
models           a model's entry in the list of models, as Codex reads it
kept             `previous_response_id`, `item_reference` and `store` of a request
input_items      what a kept answer answers, as a list of items
errors           errors
"""
