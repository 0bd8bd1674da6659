"""What students are given beside their package."""

SIZE = 3
