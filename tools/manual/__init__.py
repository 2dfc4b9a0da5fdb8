"""The manual: the documentation as a website, with its diagrams as pictures."""
