"""The demo provider: an upstream without a key, scripted by the request, in true wire formats over a loopback socket.

    server                        the HTTP server and where it listens; the only file here that touches a socket
    answer                        an HTTP answer as a value
    script                        decides a turn: text, calls, or a fault on demand. Pure; knows no wire
    last_words                    finds the user's last message, and the turns behind it
    own_words                     finds the user's own text in a message, beside text that agents add
    directives                    reads directives in that text: `[demo call NAME {json}]`
    subjects                      finds names and numbers in a sentence, to fill arguments with
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
