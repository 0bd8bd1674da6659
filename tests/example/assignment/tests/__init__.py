"""The example's component tests."""
