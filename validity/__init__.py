"""Are the marks right? Proves component tests, diagnosis and thresholds.

    __main__.py   the command line
    proof/        every known fault fails its task alone, every correct variant passes
    mutation/     small changes that nobody thought of fail too
    diagnosis/    misconceptions are recognised in other layouts
    calibration/  where to put the BLEU thresholds
"""
