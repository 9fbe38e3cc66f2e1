"""Explanations of a model's predictions, and detection of nodes that it should doubt."""
