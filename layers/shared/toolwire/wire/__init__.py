"""The typed shapes of one protocol each, shared by its door and its provider.

Beside a protocol's shapes: `_extra` reads the members that the neutral model does not name, `_lenient` the values of
other types than the API's own, and `_client_tools` the typed tools that run at the client.

    openai_chat                   OpenAI Chat Completions
    openai_chat_extra             its other members
    openai_chat_lenient           its odd values
    openai_responses              OpenAI Responses
    openai_responses_extra        its other members
    openai_responses_lenient      its odd values
    openai_client_tools           its typed tools
    openai_usage                  token counts, as hosts of OpenAI's two APIs tell them
    anthropic_messages            Anthropic Messages
    anthropic_messages_extra      its other members
    anthropic_messages_lenient    its odd values
    anthropic_client_tools        its typed tools
    gemini                        Google's generateContent
    gemini_extra                  its other members
    gemini_snake                  the same with names in snake_case, as some proxies write it
    bedrock_converse              Amazon Bedrock's Converse
    json                          reads and writes JSON whose parts may stay raw
    plain                         a batch without its source's bytes
    tool_schemas                  schemas of typed tools, as functions have them
    member_names                  the members of a request in each API
    server_tools                  parts of a history that server tools have left
    cross_api_names               names that hosts of one API take from another
    lenient_calls                 tool calls as hosts write them, for the slow paths
    lenient_values                values as hosts write them, for the slow paths
    type_mismatch                 parses msgspec's message about a wrong type
"""
