"""A visitor's seat in a class, and what every page does about it."""
