"""What a workspace owns: the people that it revealed or saved, as a list with filters and downloads."""
