"""Tool calls that a model wrote as text become calls.

recovery         the stage: text in, calls and the rest of the text out
formats          how models write calls, a row a format
token_formats    the formats whose marks are special tokens
xml_formats      the formats whose elements are marked by special tokens
python_calls     calls as Python has them
scanner          finds calls in a text that comes in pieces
places           the part indexes that are shown
thought_calls    calls at the end of reasoning, where nothing else follows
reader           reads one block of markup
arguments        a call's arguments as JSON
quotes           whether markup is only quoted
held_start       holds the start of a text back until it is known whether it is markup
"""
