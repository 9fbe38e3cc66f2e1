"""Classes: a lecturer who leads, students who follow and guess. Nothing here draws."""
