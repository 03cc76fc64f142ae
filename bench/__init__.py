"""Benchmarks: the gateway beside a direct connection to the same scripted upstream, in one run. See `__main__`."""
