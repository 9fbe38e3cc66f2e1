"""Runs as one HTML file that needs no server and no network, or as a folder of such pages.

``document`` collects its data, ``views`` draws its charts, and ``page`` makes the file.
``site`` makes a folder of pages, with the answers of ``missing_links``; ``widget`` makes a cell.
"""
