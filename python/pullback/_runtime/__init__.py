"""Looking at values, timing them, settings of the process."""
