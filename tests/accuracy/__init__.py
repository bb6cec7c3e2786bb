"""How far functions and their derivatives are from the exact numbers: `tools/accuracy --help`."""
