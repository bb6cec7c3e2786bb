"""Arrays: making, computing, reshaping, indexing. Elementwise operations are in `elementwise` and
`logic`, the rest in modules of its name."""
