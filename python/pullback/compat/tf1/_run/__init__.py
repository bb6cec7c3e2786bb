"""Sessions: from the records of a graph to values."""
