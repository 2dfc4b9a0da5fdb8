"""Rate limits, circuit breaking and the order of providers."""
