"""See input_data.py."""
