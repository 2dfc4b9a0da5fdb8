"""What every feature stands on: persistence and business rules, one package for each subject."""
