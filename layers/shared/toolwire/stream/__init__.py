"""Verbs over the neutral events: their legal order, the accumulator, the fold, and one part at a time.

order             the legal order of events, as two tables
accumulator       which call a delta belongs to
argument_text     the text of one call's arguments, from fragments that append, repeat, extend or replace
cumulative        what is new in fragments that repeat all text before them
double_encoded    arguments that are a JSON string of the object
block_call        one call's arguments, on wires where each call has a block or an item
sequential        one part at a time, for doors that know no overlapping parts
fold              an answer's events as one response
text_calls        calls that a model wrote as text
"""
