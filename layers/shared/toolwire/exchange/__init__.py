"""One client request and its answer, sans-IO: preparation, the upstream's bytes, the stages, the client's bytes."""
