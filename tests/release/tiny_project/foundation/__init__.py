"""What the example stands on: nothing."""
