"""A page of chosen runs as one file: no server, no network, nothing to install.

``document`` says what is in it, ``views`` draws its charts, ``page`` makes the file, and ``asked``
finds out which runs somebody means.
"""
