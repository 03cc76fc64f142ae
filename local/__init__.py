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
    origins             which web pages may use the server
    sockets             sockets of a process with many threads
    ports               which ports are free
    memory              gives memory back after a request
    moto_store          DynamoDB's code without an account
    banner              what the server says when it starts
    watch               keeps what crosses the server
    inspector           the pages that show it

Commands:

    doctor              finds what keeps the gateway from working
    verify              checks a running gateway from outside
    verify_doors        its checks of doors, state and rates
    expectations        how a check asks, and how it fails
    client              the HTTP client of these checks
    replay              replays a recorded exchange
    minimize            makes a failing recording small
    again               asks another model the same
    scorecard           how fit models' tool calls were, over recordings
    conversation        what the store has of a conversation
    openapi             writes docs/openapi.json
    answer_models       the native API's answers, for that document
    shortened           frames, shortened for people

Commands about a deployed stack:

    before_deploy       what would make a deployment fail
    stack               the stack's outputs, and calls to AWS
    deployed_config     its configuration
    key_admin           clients' keys, here too
    key_stores          where keys are kept
    secret_admin        providers' credentials
    sam_local           functions in Lambda's own image
    destroy             deletes the stack
"""
