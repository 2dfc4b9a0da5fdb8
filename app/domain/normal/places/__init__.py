"""Normal forms of places: countries, subdivisions and towns."""
