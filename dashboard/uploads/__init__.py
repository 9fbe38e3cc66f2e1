"""Files that visitors drop: read by processes of their own, within bounds."""
