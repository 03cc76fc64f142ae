"""Records exchanges, so that they can be looked at, and replayed to the same bytes. Never a credential.

    exchange            watches one request, and holds its bytes with their times
    notes               the kinds of notes about it
    exchange_summary    its line in a list
    summarize           makes that line, and keeps only it when the request is over
    folder              writes it as an event folder, or that folder packed
    credentials         takes credentials out of headers and addresses
    scenario            an event folder, read for a replay
    replay              replays a scenario through this gateway
    redaction           replaces all texts of a scenario by x and 1
    binary_frames       the same for the frames of an AWS event stream
    bucket              a folder for each request of a tenant that has them recorded, in a bucket of the operator's

A gateway that records nothing imports none of it.
"""
