"""The shell: the only code that does IO, reads the clock, the environment or randomness."""
