"""The Responses wire: OpenAI's own newer models, and the hosts that speak its protocol. `request.PROVIDER` is what the
registry loads.

request      the request: its members, in the client's order or written anew
messages     its input items
tools        its tools
models       what differs between model families
answer       the answer, streamed or whole
items        the items of an answer while they arrive
shapes       pieces of an answer, read
token_count  the API's own count of tokens
errors       errors
"""
