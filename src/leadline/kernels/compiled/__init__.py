"""Destination of the compiled kernels; empty without a compiler."""
