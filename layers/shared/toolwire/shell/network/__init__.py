"""Sockets and HTTP towards providers, and AWS's clients."""
