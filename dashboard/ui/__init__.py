"""Colours, words, number widgets and errors that all pages share."""
