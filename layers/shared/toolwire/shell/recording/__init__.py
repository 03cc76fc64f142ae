"""Keeps what crossed an exchange, so that it can be looked at, and replayed to the same bytes. Never a credential.

    exchange         one request, kept as bytes and moments while it runs
    notes            what is noted of it
    summary          the line that a list has of it
    ending           what is left of it when the request is over
    folder           the same as an event folder, or that folder packed
    credentials      what may be kept of headers and addresses
    scenario         an event folder, read for a replay
    replay           what a scenario's client is sent, by this gateway
    redaction        a folder without what was said
    binary_frames    the same for the frames of an AWS event stream
    bucket           a folder for each request of a tenant that has them recorded, in a bucket of the operator's

Nothing here is imported by a gateway that is not asked to record.
"""
