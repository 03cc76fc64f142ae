"""toolwire: a serverless gateway that makes LLM tool-calling APIs agree.

Read `model/events.py` first: it is the product in one page. Then `exchange/exchange.py`, through which one client
request and its answer pass. Imports go down this list, and only `shell` and `demo` do IO:

    shell           runs the rest: sockets, AWS, the clock, the environment
    pages           answers that no provider is asked for
    exchange        one client request and its answer
    demo            a provider without a key, for a first try and for tests
    doors           the APIs that clients speak, a folder each
    providers       the APIs that providers speak, a folder each
    rewrite         what is changed in a request so that a provider can take it
    policy          what a tenant's tools and calls must be
    conversation    tool-call ids and state, from turn to turn
    stream          the order of an answer's events, and what is done with them
    wire            the typed shapes of each API
    schema          JSON Schema for tools
    framing         bytes to frames
    model           the neutral request and answer
"""

__version__ = "0.1.0"
