"""Where the build puts the compiled kernels; empty where there was no compiler."""
