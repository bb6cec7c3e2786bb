"""Random numbers: see `pullback.random`."""
