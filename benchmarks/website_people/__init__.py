"""What the provider `website` reads at public sites: `python -m benchmarks.website_people`."""
