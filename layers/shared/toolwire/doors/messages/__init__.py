"""Anthropic's Messages API: POST /messages and /messages/count_tokens. `request.DOOR` is what the registry loads.

request     the request's fields and headers
tools       its tools and tool_choice
history     its messages
stream      the answer as events
document    the answer as one JSON document
errors      errors
"""
