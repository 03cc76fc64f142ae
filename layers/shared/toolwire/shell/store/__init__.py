"""Stores ids and state between turns.

store            the interface of a store, and the one in memory
dynamodb         the one in DynamoDB
current          the one of this process
ids_and_state    reads the items of earlier turns, and writes those of this one
kept_answers     the answers from which a request continues
sticky_model     the model of a conversation's last turn
"""
