"""Files that visitors upload: read by separate processes, within limits."""
