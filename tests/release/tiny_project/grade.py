"""Scores a file of translations; in this example it says so and no more."""

print("BLEU = 0.00")
