"""The log, metrics and spans of requests: names, counts, sizes and times; never text of a prompt or an answer.

request_record    the facts about one request
observe           writes its line, metrics and span when it is over, and has its watch
log               the process's log
call_lines        its DEBUG lines for tool calls
metrics           metrics for CloudWatch
spans             spans for OpenTelemetry
watch             the interface of the local server's terminal and of recordings
"""
