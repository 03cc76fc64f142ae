"""toolwire: a serverless gateway that makes LLM tool-calling APIs agree.

Read `model/events.py` first: it is the product in one page. Then `exchange.py`, the sans-IO pipe through which one
client request and its answer pass, and `shell/`, the only code that does IO.
"""

__version__ = "0.1.0"
