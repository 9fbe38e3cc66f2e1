"""Classes: a lecturer who leads, students who follow and guess."""
