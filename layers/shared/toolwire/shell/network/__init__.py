"""Connections: to clients, to providers and to AWS.

proxy_event         API Gateway's event as a request
content_encoding    unpacks compressed bodies of clients
output              sends an answer to the client
upstream            one HTTP request to a provider and its answer
pool                kept-alive connections
transfer            the deadlines and the waiting of one request
sockets             reads and writes on connections
answer_reader       parses HTTP/1.1 answers
decompression       unpacks compressed bodies of providers
breaker             keeps the circuits of targets
aws                 AWS's services, one client for each
aws_json            that client over our own HTTP
aws_boto3           that client by boto3, for other services
aws_credentials     the AWS credentials of this process
aws_errors          the error of a call to AWS
aws_secrets         secrets and parameters by name
sigv4               AWS's signature
"""
