"""What several components need."""
