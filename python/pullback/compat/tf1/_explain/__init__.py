"""Graphs as the histories that `pb.explain` reads."""
