"""OpenAI's Responses API: POST /responses. `request.DOOR` is what the registry loads.

request     the request's fields
history     its items, as messages
tools       its tools and tool_choice
stream      the answer as events: what of it is the upstream's own, failures, keep-alives
writer      neutral events as this API's
open_items  an item while it grows
items       items and the response object as JSON
document    the answer as one JSON document
errors      errors
"""
