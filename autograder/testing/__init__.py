"""Component tests: what they use, and how they run on a submission, here or in the sandbox.

What tests use: `under_test` (a submission's operations), `case` (random inputs), `covering` (rows of situations),
`comparison` and `errors` (checks that say what is wrong). As pytest's plugins: `options`, `fixtures`.
Where they run: `in_process` (a student's own run), `running/` (grading), `notebook/`.
"""
