"""Bytes on their way: from clients and to them, to providers and from them, and to AWS.

proxy_event         API Gateway's event as a request
content_encoding    a client's body that came compressed
output              the answer on its way to the client
upstream            one HTTP request to a provider and its answer
pool                connections that are kept for the next one
transfer            one request and its answer: its deadlines, and where it waits
sockets             what reads and writes on them
answer_reader       HTTP/1.1, as a provider answers
decompression       a provider's body that came compressed
breaker             who is not asked for a while
aws                 AWS's services, one client for each
aws_json            that client over our own HTTP
aws_boto3           that client from boto3, for what ours does not speak
aws_credentials     whose name requests to AWS are signed in
aws_errors          what AWS's refusals are called
aws_secrets         secrets and parameters by name
sigv4               AWS's signature
"""
