"""The Messages wire: Claude, and the hosts that speak its protocol. `request.PROVIDER` is what the registry loads.

request                the request: formats, and what joins the rest
same_dialect_request   the request of a client that speaks this API itself
cloud                  what differs where a cloud serves it
messages               its messages
tools                  its tools and tool_choice
thinking_and_sampling  thinking, sampling, and the version of the API
models                 what differs between model families
answer                 the answer, streamed or whole
answer_blocks          the blocks of an answer while they arrive
alike_events           events that are like an earlier one, read without being decoded
answer_shapes          pieces of an answer, read
token_count            the API's own count of tokens
errors                 errors
"""
