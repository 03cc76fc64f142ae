"""The gateway's own API: POST /native/chat. `request.DOOR` is what the registry loads.

models      the request's shape
reader      a body as one of them, or a refusal with its JSON path
request     the request's fields and tools
history     its messages
stream      the answer as events
document    the answer as one JSON document
errors      errors
"""
