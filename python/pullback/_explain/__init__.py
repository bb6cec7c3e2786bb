"""Explanations of gradients: `explain`, `gradient_paths`, `check_numerics`, `draw`."""
