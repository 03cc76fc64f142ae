"""What an operator is told of requests: names, counts, sizes and times; never text of a prompt or an answer.

request_record    what is known of one request
observe           what is told of it when it is over, and who else looks at it meanwhile
log               the process's log
call_lines        its DEBUG lines for tool calls
metrics           CloudWatch's
spans             OpenTelemetry's
watch             what the local server's terminal and recordings see of a request
"""
