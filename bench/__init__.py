"""Benchmarks: the gateway beside a direct connection to the same scripted upstream, in one run. See `__main__`.

What is measured:

    core                the translation alone, without a socket
    traffic             what clients feel, and what it costs
    cold_start          starts, from the process to the first answer
    rooms               where a request's CPU time goes
    store               what the store adds to a turn
    inspector           what the inspector adds to a request
    open_circuit        a request whose only target is not asked
    open_streams        one open stream
    scale               many streams at once at AWS, simulated from these
    soak                memory over many requests
    beside              other gateways in the same run

What it is measured with:

    upstream            the scripted upstream
    script              what it is told to answer
    wires               the APIs that it speaks
    openai_chat         Chat Completions
    anthropic_messages  Anthropic Messages
    gemini              Gemini's generateContent
    client              a client that costs little
    lock_step           client and provider in one thread
    peers               other gateways, started
    process             processes under measurement
    cpu_share           the share of a CPU that Lambda gives
    tables              tables that answer at once
    report              the tables of figures
    performance_page    puts them into docs/performance.md
"""
