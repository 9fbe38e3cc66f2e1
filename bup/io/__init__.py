"""Files, tables and libraries that are loaded late."""
