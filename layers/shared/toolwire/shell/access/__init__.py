"""Who may ask, how much, and with which provider's credential.

keys            whose key a request has
key_records     where keys are kept
rates           how much a tenant may ask for in a minute
concurrency     how much at once
credentials     the providers' credentials
cloud_tokens    those that clouds mint
aws_signing     requests to AWS, in this process's name
"""
