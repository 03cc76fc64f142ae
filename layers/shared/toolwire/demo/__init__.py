"""The demo provider: an upstream without a key, scripted by the request, in true wire formats over a loopback socket.

    server                        the HTTP server and where it listens; the only file here that touches a socket
    answer                        an HTTP answer as a value
    script                        what a turn says: text, calls, or a fault on demand. Pure; knows no wire
    last_words                    what the user said last in a conversation, and what has followed it
    own_words                     what of a message is the user's own, apart from what agents write in his name
    directives                    what that asks for, letter by letter: `[demo call NAME {json}]`
    subjects                      what a user's sentence is about: the raw material of arguments
    arguments                     JSON Schema -> an instance of it
    openai_chat_request           OpenAI Chat Completions: checks a request as the API would
    openai_chat                   OpenAI Chat Completions: the turn as JSON or as a stream, in two flavours
    openai_responses_request      OpenAI Responses, likewise
    openai_responses              OpenAI Responses, likewise
    anthropic_messages_request    Anthropic Messages, likewise
    anthropic_messages            Anthropic Messages, likewise
    gemini_request                Google's generateContent, likewise
    gemini                        Google's generateContent, likewise
    bedrock_converse_request      Bedrock's Converse, likewise
    bedrock_converse              Bedrock's Converse, likewise
    bedrock_messages              Claude at Bedrock by its own API: Anthropic Messages in AWS's frames

It imports nothing else of toolwire, so that no mistake of ours is made on both sides of the wire. `docs/demo.md` says
what to ask it.
"""
