"""The gateway on your own machine: the server in front of the handlers, and the commands around it.

The server:

    server              HTTP in front of the handlers that run on Lambda
    workers             several processes of it at one port
    connection          one client's connection
    http                HTTP/1.1 as the server needs it
    websocket           a WebSocket on such a connection
    responses_socket    the Responses API in a WebSocket
    handlers            the functions that answer
    event               what a function receives
    origins             refuses web pages of other sites
    sockets             fast sockets for a process with many threads
    ports               finds free ports
    memory              gives memory back after a request
    moto_store          the DynamoDB store without an account
    banner              the lines that the server writes when it starts
    watch               watches and records exchanges
    inspector           web pages that show exchanges

Commands:

    doctor              finds what keeps the gateway from working
    verify              checks a running gateway from outside
    verify_doors        its checks of doors, state and rates
    expectations        the interface of these checks, and their failures
    client              the HTTP client of these checks
    replay              replays a recorded exchange
    minimize            makes a failing recording small
    resend              sends a recorded request to another model
    scorecard           how fit models' tool calls were, over recordings
    conversation        shows or deletes what the store has of a conversation
    openapi             writes docs/openapi.json
    answer_models       the native API's answers, for that document
    shortener           shortens frames for people

Commands about a deployed stack:

    before_deploy       finds what would make a deployment fail
    stack               the stack's outputs, and calls to AWS
    deployed_config     its configuration
    key_admin           manages clients' keys, also on this machine
    key_stores          the stores of keys' records
    secret_admin        stores providers' credentials
    sam_local           runs functions in Lambda's own image
    destroy             deletes the stack
"""
