"""The Converse wire: every model of Amazon Bedrock. `request.PROVIDER` is what the registry loads.

request        the body, by the API's own members and `additionalModelRequestFields`
messages       `system` and the turns
tools          `toolConfig`
models         what differs between model families
answer         the answer, streamed or whole
answer_blocks  the blocks of an answer while they arrive
token_count    Bedrock's own count of tokens
errors         errors, as an answer's status and inside a stream
"""
