"""Lessons to play with: they bring their own small data and need no chosen run."""
