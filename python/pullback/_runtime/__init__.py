"""Evaluation, profiles, and the table of what each function supports."""
