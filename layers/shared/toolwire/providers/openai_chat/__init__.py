"""The Chat Completions wire: OpenAI and every compatible host. `request.PROVIDER` is what the registry loads.

request       the request: the client's own bytes where it speaks this API, else written anew
messages      its messages
tools         its tools and tool_choice
tagged_reasoning  reasoning that a host leaves in the text
known_choice  a tool choice at hosts that have refused its form
known_content  messages' content at hosts that have refused its form
thinking_off  a forced call at hosts that take none while the model thinks
answer        the answer, streamed or whole
alike_chunks  chunks that are like an earlier one, read without being decoded
answer_parts  the parts of an answer while they arrive
text_parts    those that are no calls
state         what hosts send beside the documented fields and want back
usage         the usage of an answer
errors        errors

What differs between hosts is data: `providers/profiles.py`.
"""
