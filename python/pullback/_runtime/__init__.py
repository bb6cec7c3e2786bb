"""Evaluation of values, profiles, and settings of the process."""
