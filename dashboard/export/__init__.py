"""Runs as one HTML file that needs no server and no network, or as a folder of such pages.

``document`` collects its data, ``views`` draws its charts, and ``page`` makes the file.
``site`` makes a folder, to which ``explanations`` adds reasons; ``widget`` puts a page into a cell.
"""
