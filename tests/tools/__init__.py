"""Scripts that make what is checked in: pictures, results, the shipped run."""
