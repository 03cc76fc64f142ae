"""The shell: the only code that does IO, reads the clock, the environment or randomness.

    serve          a Lambda invocation from event to answer
    recording      keeps what crossed an exchange, and replays it
    access         who may ask, how much, and with which credential
    store          where ids and state are kept between turns
    settings       the configuration
    network        bytes on their way
    telemetry      what an operator is told of requests
    random_text    random characters and ids

Imports go down this list.
"""
