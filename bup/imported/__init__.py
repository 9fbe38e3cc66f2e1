"""Predictions made elsewhere, and the process that reads uploaded files."""
