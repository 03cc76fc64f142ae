"""Watches the exchanges of the local server, for the terminal's lines, the recorder and the inspector.

    watching     the settings of the watch, from the environment
    exchanges    the latest exchanges, in bounded memory, and their listeners
    kept         packs an ended exchange into one piece of bytes
    ring         a ring of memory with these pieces
    reading      reads the events of an exchange from its bytes, on demand
    terminal     a line when a request begins and one when it ends
    recorder     writes each exchange as an event folder

The gateway does not depend on it: with INSPECT=0, no RECORD and no terminal the server watches nothing.
"""
