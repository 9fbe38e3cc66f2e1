"""The fast training engine: several seeds side by side, on the nodes that an epoch needs."""
