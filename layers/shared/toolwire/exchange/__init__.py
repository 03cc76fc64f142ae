"""One client request and its answer, sans-IO: preparation, the upstream's bytes, the stages, the client's bytes.

The request:

    prepare            a client's request: parsed, checked, and its target found
    routing            the model that it names, as a provider and that provider's model
    plan               the targets that may answer, in their order
    call_quality       that order, by how fit the models' tool calls have been
    time_limits        how long the answer may take
    attempt            the request as one target takes it
    mending            that request once more, without what the target has refused
    refusals           what a refusal is about
    profile_lessons    what it tells of its host
    retries            whether another attempt follows a failure, at which target and when
    breaker            which target is not asked for a while

The answer:

    exchange           all attempts at one answer
    answer             one of them, by the four that follow
    reader             the upstream's bytes to batches of events
    valid_text         bytes of these that are no UTF-8
    stages             our own rules over the batches, in their order
    writer             batches to the client's bytes
    gate               holds the end back until what it leaves is stored
    heads              the answer's head
    answer_ids         the stage for ids and for names of tools
    tag_state          the stage for the origin of signatures
    figures            the stage for the numbers of the log
    request_context    what is the same for all attempts
    actions            what the shell is asked to do
    observer           who looks on
"""
