"""Gradients of graphs: records, custom rules, tapes and Jacobians."""
