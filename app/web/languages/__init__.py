"""The languages of pages and problems: which one a request gets, its catalogue, and its dates and numbers."""
