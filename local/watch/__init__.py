"""What crosses the local server, for a person to look at: the terminal's lines, the recorder and the inspector.

    watching     what the environment asks to be kept and shown
    exchanges    the latest exchanges, in bounded memory, and who wants to hear of them
    kept         one that is over, as one run of bytes
    ring         where these are, the latest in the place of the first
    reading      what was understood of one, read from its bytes when somebody looks
    terminal     a line when a request begins and one when it ends
    recorder     each exchange as an event folder

Nothing here is part of the gateway: with INSPECT=0, no RECORD and no terminal the server does not watch at all.
"""
