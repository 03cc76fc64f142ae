"""A Lambda invocation from event to answer.

runtime            the Lambda runtime that streams
door               one client request, from proxy event to answer
admission          that request up to its exchange
attempts           the attempts at its answer, with their credentials
signed_request     the request to a provider, with its last headers
failures           what a failure is shown as
count_tokens       a count of tokens in place of an answer
compaction         a shorter history in place of an answer
call_quality       how fit models' calls have been, in this process
profile_lessons    what hosts have told by their refusals, in this process
native             the native API's routes
catalog            GET /models, GET /models/{id} and GET /health
kept_answers       what is under /responses/{id}
json_endpoint      an answer that is one document, without an exchange
function_url       every path by one function
cors               for web pages
snapstart          what is done before and after a snapshot
"""
