"""Parsing of imported CSV lists: files, columns, cells and rows."""
