"""Keys of clients, rates of tenants, credentials of providers.

keys            the tenant of a request, by its key
key_records     where keys are kept
rates           a tenant's requests and tool calls in a minute
concurrency     how many requests are served at once
credentials     the providers' credentials
cloud_tokens    access tokens of clouds
aws_signing     signatures of requests to AWS
"""
