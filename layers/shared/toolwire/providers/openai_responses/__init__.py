"""The Responses wire: OpenAI's own newer models, and the hosts that speak its protocol. `request.PROVIDER` is what the
registry loads.

request        the request: its members, in the client's order or written anew
messages       its input items
tools          its tools
answer         the answer, streamed or whole
item_events    the items of an answer, by what each event tells of them
answer_items   the items of an answer while they arrive
answer_shapes  pieces of an answer, read
token_count    the API's own count of tokens
errors         errors

What differs between model families is the same for both of OpenAI's wires: `providers/openai_models.py`.
"""
