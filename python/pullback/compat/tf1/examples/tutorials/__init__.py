"""See mnist/input_data.py."""
