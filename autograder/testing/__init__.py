"""Component tests: what they use, and how they run on a submission, here or in the sandbox.

What tests use: `under_test` (a submission's operations), `case` (random inputs), `covering` (rows of situations),
`comparison`, `errors` and `told_inputs` (checks that say what is wrong, and of which call). As pytest's plugins:
`options`, `fixtures`.
Where they run: `in_process` (a student's own run), `running/` (grading), `notebook/`.
"""
