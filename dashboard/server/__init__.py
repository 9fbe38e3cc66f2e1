"""The app as a server: its command, its processes, its guards."""
