"""Graphs: operations, tensors, shapes and dtypes, and the table of operation types."""
