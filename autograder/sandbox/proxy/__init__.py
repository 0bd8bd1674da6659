"""Shows a submission in another process to the tests as ordinary modules and functions."""
