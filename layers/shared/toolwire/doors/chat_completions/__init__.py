"""OpenAI's Chat Completions API: POST /chat/completions. `request.DOOR` is what the registry loads.

request             the request's fields
tools               its tools and tool_choice
history             its messages
foreign_parts       parts of other APIs that stand in messages
foreign_reasoning   how hard to think, in the words of other hosts
undocumented_forms  requests in undocumented forms, as the documented ones that they mean
undocumented_calls  the calls of such requests
legacy_functions    the deprecated `functions`, read as tools
contract_2api       what the preset `2api` promises beyond the API
stream              the answer in chunks
document            the answer as one JSON document
errors              errors
"""
