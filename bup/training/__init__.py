"""Training on demand, and what it costs."""
