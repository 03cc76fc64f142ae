"""One client request and its answer, sans-IO: preparation, the upstream's bytes, the stages, the client's bytes.

The request:

    prepare            a client's request: parsed, checked, and its target found
    routing            the model that it names, as a provider and that provider's model
    plan               the targets that may answer, in their order
    call_quality       that order, by how fit the models' tool calls have been
    time_limits        how long the answer may take
    attempt            the request that one target is sent
    mending            that request once more, without what the target has refused
    refusals           what a refusal is about
    refused_messages   the same for the form of messages
    profile_lessons    fields of a host's profile, corrected by its refusals
    retries            whether another attempt follows a failure, at which target and when
    breaker            which target is not asked for a while

The answer:

    exchange           all attempts at one answer
    answer             one attempt, by the four modules that follow
    reader             the upstream's bytes to batches of events
    valid_text         bytes of these that are no UTF-8
    stages             our own rules over the batches, in their order
    writer             batches to the client's bytes
    gate               holds the turn's last bytes until its items are stored
    heads              the answer's head
    answer_ids         the stage for ids and for names of tools
    tag_state          the stage for the origin of signatures
    figures            the stage for the numbers of the log
    request_context    the values that all attempts share
    actions            the commands to the shell: send bytes, store items
    observer           the interface of logs, recorders and replays, which only watch
"""
