"""Finished runs, and the store that keeps them on disk."""
