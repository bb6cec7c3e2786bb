"""Solutions of differential equations."""
