"""Speed as ratios within one run: ``make bench``, or ``python -m tests.bench NAME ...``."""
