"""The pages of uploads, and how they name the formats of files."""
