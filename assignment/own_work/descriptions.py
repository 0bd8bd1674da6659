"""Tests in the words in which questions speak of them: what each of them reads of a result, and where it is lenient."""

from collections.abc import Mapping

IF_WRONG = "where the results for ordinary inputs are wrong anyway"
TESTS: Mapping[str, str] = {
    "test_rows_of_the_table": "whether each token gets its vector of the table, times any number",
    "test_embedding": "the vectors of random tokens against the formula",
    "test_one_table_is_learned": "how many numbers are learned",
    "test_attention": "the context of random inputs without a mask against the formula",
    "test_weights": "the returned weights against the formula, and nothing else",
    "test_masks": f"the first result with masks of several shapes; {IF_WRONG}, only that forbidden keys do not count",
    "test_masks_among_large_scores": "the context with a mask among very large and very negative scores; "
    f"{IF_WRONG}, only that forbidden keys do not count",
    "test_query_without_keys": "the context with a query that may attend to nothing, and that gradients are finite; "
    f"{IF_WRONG}, only that all of it is finite",
    "test_large_and_small_scores": "the context with very large and very small scores; "
    f"{IF_WRONG}, only that it is finite",
    "test_multi_head": "the output without a mask, for a query, a key and a value that all differ, against the formula",
    "test_one_tensor_in_several_roles": "the output and its gradients where the same tensor is query and key, key and "
    "value, or all three",
    "test_mask_of_a_wide_model": "the output with a mask in a model of many heads; "
    f"{IF_WRONG}, only that forbidden keys do not count",
    "test_heads_that_do_not_divide_are_refused": "numbers of heads that do not divide d_model",
    "test_layer_norm": "inputs with a large variance against the formula",
    "test_epsilon": "inputs with a small variance against the formula, with several values of epsilon",
    "test_constant_input_stays_finite": "an input whose features are all the same, and that its gradient is finite",
    "test_gain_is_one_and_shift_zero_at_first": "how many numbers are learned, and that they do nothing at first",
    "test_one_parameter_as_at_first": "inputs with a large variance against the formula, one parameter as at first",
    "test_network": "the result for random inputs against the formula, with relu in it",
    "test_number_of_parameters": "how many numbers are learned, and the shape of the result",
    "test_padding": "the result of `padding_mask`",
    "test_later_positions": "the result of `causal_mask`",
    "test_layer": "the output in eval mode against the formula",
    "test_dropout_acts_on_the_sublayers": "the output in train mode, with dropout 0 and with dropout near 1",
    "test_dropout_of_single_entries": "which entries of a sublayer's output dropout sets to 0 in train mode, and "
    "what the others are multiplied by",
    "test_stack": "the output in eval mode against the formula",
    "test_sides": "the first result of `encode`, or of `decode`, in eval mode against the formula",
    "test_predictions": "the result of `get_predictions`",
    "test_both_sides_have_their_own_embedding": "whether source and target share a table",
    "test_gradients_reach_every_parameter": "whether every parameter gets a gradient from the predictions",
    "test_training": "the parameters after some epochs, and that train_epoch changes nothing else",
    "test_mean_loss_is_returned": "the loss that is returned",
    # of several components
    "test_no_side_effects": "whether a call changes its arguments, or depends on an earlier call or on chance",
}
"""What the tests check, in words: "the test that checks very large scores"; by the name of the test.

Tests are left out of which nobody can tell from such words what passes: gradients need only be those of a wrong
formula, FeedForward may have some other nonlinearities, and where sizes are the same a wrong one goes unnoticed.
"""
