"""Charts of the lessons: numbers in, one idea out."""
