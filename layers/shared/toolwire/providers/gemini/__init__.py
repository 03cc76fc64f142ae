"""The generateContent wire: Gemini on Google's API and on Vertex AI. `request.PROVIDER` is what the registry loads.

request               the request: address, credential, settings
same_dialect_request  the request of a client of the same API
messages              its contents
tools                 its function declarations and what calls are asked for
models                what differs between model families
answer                the answer, streamed or whole
answer_parts          the parts of an answer while they arrive
streamed_arguments    arguments that arrive in pieces
token_count           the API's own count of tokens
errors                errors
"""
