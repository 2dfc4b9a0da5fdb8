"""Parsing of imported lists: CSV files and workbooks, columns, cells and rows."""
