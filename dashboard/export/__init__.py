"""Runs as one HTML file that needs no server and no network.

``document`` says what is in it, ``views`` draws its charts, ``page`` makes the file, and ``asked``
finds out which runs somebody means.
"""
