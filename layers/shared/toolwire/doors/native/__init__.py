"""The gateway's own API: POST /native/chat. `request.DOOR` is what the registry loads.

request_models  the requests as pydantic models
reader          a body as one of them, or a refusal with its JSON path
request         the request's fields
tools           its tools and tool_choice
history         its messages
stream          the answer as events
document        the answer as one JSON document
errors          errors
"""
