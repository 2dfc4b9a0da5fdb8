"""Headers of lists, and the field that each column has."""
