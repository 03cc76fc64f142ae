"""OpenAI's Chat Completions API: POST /chat/completions. `request.DOOR` is what the registry loads.

request     the request's fields and tools
history     its messages
stream      the answer in chunks
document    the answer as one JSON document

Errors are those of both of OpenAI's APIs: `doors/openai_errors.py`.
"""
