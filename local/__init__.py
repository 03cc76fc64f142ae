"""The gateway on your own machine: the server in front of the handlers, and the commands around it."""
