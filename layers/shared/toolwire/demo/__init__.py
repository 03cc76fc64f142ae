"""The demo provider: an upstream without a key, scripted by the request, in true wire formats over a loopback socket.

    server.py               the HTTP server and where it listens; the only file here that touches a socket
    script.py               what a turn says: text, calls, or a fault on demand. Pure; knows no wire
    last_words.py           what the user said last in a conversation, and what has followed it
    own_words.py            what of a message is the user's own, apart from what agents write in his name
    directives.py           what that asks for, letter by letter: `[demo call NAME {json}]`
    subjects.py             what a user's sentence is about: the raw material of arguments
    arguments.py            JSON Schema -> an instance of it
    openai_chat_request.py  OpenAI Chat Completions: checks a request as the API would, reads what the script needs
    openai_chat.py          OpenAI Chat Completions: the turn as JSON or as a stream, in two flavours
    openai_responses*.py    OpenAI Responses, likewise
    anthropic_messages*.py  Anthropic Messages, likewise

It imports nothing else of toolwire, so that no mistake of ours is made on both sides of the wire. `docs/demo.md` says
what to ask it.
"""
