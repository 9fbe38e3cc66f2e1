"""Charts of runs with captions and the nodes behind their points: for pages and exported files."""
