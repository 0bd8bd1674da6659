def habit(x):
    import fractions
    import statistics

    return float(fractions.Fraction(statistics.mean([1, 3])))
