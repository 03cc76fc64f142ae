"""The shell: the only code that does IO, reads the clock, the environment or randomness.

    serve          a Lambda invocation from event to answer
    recording      records exchanges, and replays them
    access         keys of clients, rates of tenants, credentials of providers
    store          where ids and state are kept between turns
    settings       the configuration
    network        connections to clients, providers and AWS
    telemetry      the log, metrics and spans
    random_text    random characters and ids

Imports go down this list.
"""
