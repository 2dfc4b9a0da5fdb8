"""The languages of the service: their catalogues, and texts, dates and numbers in one of them."""
