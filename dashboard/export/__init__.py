"""Runs as one HTML file that needs no server and no network.

``document`` collects its data, ``views`` draws its charts, and ``page`` makes the file.
"""
