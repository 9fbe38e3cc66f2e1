"""What is worked out once and shared by every browser."""
