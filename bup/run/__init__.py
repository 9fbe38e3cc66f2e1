"""What a run is: its specification, its settings, its split."""
