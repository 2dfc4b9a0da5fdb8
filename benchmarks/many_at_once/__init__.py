"""What callers notice while others keep the product busy: `python -m benchmarks.many_at_once`."""
