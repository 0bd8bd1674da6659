"""What proves the example's tests."""
