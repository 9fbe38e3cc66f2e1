"""Finished runs: what they hold, where they are kept, what is checked when they are read."""
