"""OpenAI's Chat Completions API: POST /chat/completions. `request.DOOR` is what the registry loads.

request     the request's fields
tools       its tools and tool_choice
history     its messages
legacy      the deprecated `functions`, read as tools
stream      the answer in chunks
document    the answer as one JSON document
errors      errors
"""
