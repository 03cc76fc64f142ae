"""The Converse wire: every model of Amazon Bedrock.

request.py    the body, by the API's own members and `additionalModelRequestFields`
messages.py   `system` and the turns
tools.py      `toolConfig`
answer.py     the answer, streamed or whole
errors.py     errors, as an answer's status and inside a stream
models.py     what differs between model families
"""
