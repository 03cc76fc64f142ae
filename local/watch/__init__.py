"""What crosses the local server, for a person to look at: the terminal's lines, the recorder and the inspector.

    SeenExchange       one request, kept as bytes and moments while it runs
    Exchanges          the latest of them, in bounded memory, and who wants to hear of them
    kept               one that is over, as one run of bytes
    ring               where these are, the latest in the place of the first
    terminal           a line when a request begins and one when it ends
    recorder           each exchange as an event folder
    reading            what was understood of one, read from its bytes when somebody looks

Nothing here is part of the gateway: with INSPECT=0, no RECORD and no terminal the server does not watch at all.
"""
