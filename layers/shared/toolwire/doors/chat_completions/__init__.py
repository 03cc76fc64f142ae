"""OpenAI's Chat Completions API: POST /chat/completions. `request.DOOR` is what the registry loads.

request             the request's fields
tools               its tools and tool_choice
history             its messages
foreign_parts       parts of other APIs that stand in messages
foreign_reasoning   the effort of reasoning, in the members of other hosts
undocumented_forms  rewrites requests of undocumented forms to the documented ones
undocumented_calls  the calls of such requests
legacy_functions    the deprecated `functions`, read as tools
contract_2api       members that the preset `2api` adds to answers
stream              the answer in chunks
document            the answer as one JSON document
errors              errors
"""
