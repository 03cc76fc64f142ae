"""Bytes to frames and back. Knows no vendor: `sse` here, the AWS event stream beside it when Bedrock comes."""
