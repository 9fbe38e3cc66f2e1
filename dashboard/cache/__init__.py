"""Graphs, runs and figures, computed once and shared by all browser sessions."""
