"""The public website of a company as a source of its people: which pages are read, and what they say."""
