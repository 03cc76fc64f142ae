"""Anthropic's Messages API as Amazon Bedrock serves it, by InvokeModel and InvokeModelWithResponseStream. The requests
and answers are those of `anthropic_messages`, in AWS's frame; the errors are those of `bedrock_converse`.

request      the request and its address
answer       the frames of a stream
token_count  Bedrock's own count of tokens
"""
