"""The state of one browser session: run, picked node, trainings, and the address that holds it."""
