"""Where ids and state are kept between turns.

store            what a store does, and the one in memory
dynamodb         the one in DynamoDB
current          the one of this process
ids_and_state    what earlier turns have left, and what this one leaves
kept_answers     the answers from which a request continues
sticky_model     the model of a conversation's last turn
"""
