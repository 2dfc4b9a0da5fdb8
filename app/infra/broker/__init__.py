"""The broker and Redis: queues, messages, notifications and rate limits."""
