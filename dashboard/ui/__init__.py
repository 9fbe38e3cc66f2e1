"""What all pages share in looks and words."""
