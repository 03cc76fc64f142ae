"""A Lambda invocation from event to answer.

runtime            the Lambda runtime that streams
door               one client request, from proxy event to answer
admission          checks that request and opens its exchange
attempts           the attempts at its answer, with their credentials
signed_request     adds the last headers and the signatures to a provider's request
failures           the error that a client is shown for a failure
count_tokens       a count of tokens in place of an answer
compaction         a shorter history in place of an answer
call_quality       the quality of models' calls, as this process has seen it
profile_lessons    lessons of hosts' refusals, as this process has learnt them
native             the native API's routes
catalog            GET /models, GET /models/{id} and GET /health
kept_answers       the routes under /responses/{id}
json_endpoint      an answer that is one document, without an exchange
function_url       all paths by one function
cors               the headers that browsers ask for
snapstart          the hooks before and after a snapshot
"""
