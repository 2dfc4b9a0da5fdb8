"""Twenty: people and companies by the REST API."""
