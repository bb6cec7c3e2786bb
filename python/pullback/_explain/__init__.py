"""Why a gradient is what it is: `explain`, `gradient_paths`, `check_numerics`, `draw`."""
