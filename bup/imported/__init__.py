"""Predictions that were made elsewhere."""
