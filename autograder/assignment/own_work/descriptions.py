"""Tests in the words in which questions speak of them."""

from collections.abc import Mapping

TESTS: Mapping[str, str] = {
    # 1.1 to 1.5
    "test_embedding": "the vectors of random tokens against the formula",
    "test_one_table_is_learned": "how many numbers are learned",
    "test_attention": "random inputs without a mask against the formula",
    "test_masks": "masks of several shapes",
    "test_masks_among_large_scores": "masks among very large and very negative scores",
    "test_query_without_keys": "a query that may attend to nothing",
    "test_large_and_small_scores": "very large and very small scores",
    "test_multi_head": "a query, a key and a value that all differ",
    "test_one_tensor_in_several_roles": "the same tensor for query and key, for key and value, or for all three",
    "test_mask_of_a_wide_model": "a mask in a model of many features",
    "test_one_parameter_as_at_first": "a gain or a shift as at first",
    "test_heads_that_do_not_divide_are_refused": "numbers of heads that do not divide d_model",
    "test_layer_norm": "random inputs of several shapes against the formula",
    "test_epsilon": "several values of epsilon",
    "test_constant_input_stays_finite": "an input whose features are all the same",
    "test_gain_is_one_and_shift_zero_at_first": "the parameters before any training",
    "test_network": "random inputs of several sizes against the formula",
    "test_number_of_parameters": "how many numbers are learned",
    # 2.1 to 2.4
    "test_layer": "output and weights against the formula",
    "test_dropout_acts_on_the_sublayers": "where dropout acts",
    "test_dropout_of_single_entries": "which numbers dropout sets to 0",
    "test_stack": "output and weights against the formula",
    "test_sides": "what `encode` and `decode` return",
    "test_dropout_of_positions": "dropout on the positional encodings",
    "test_predictions": "the predictions",
    "test_both_sides_have_their_own_embedding": "whether source and target share a table",
    "test_gradients_reach_every_parameter": "whether every parameter gets a gradient",
    # 3.1
    "test_training": "the parameters after an epoch",
    "test_mean_loss_is_returned": "the loss that is returned",
    # several
    "test_same_in_train_mode": "train mode",
    "test_gradients": "the gradients",
    "test_no_side_effects": "whether arguments are changed in place, or state is kept",
}
"""What the tests check, in words: "the test that checks very large scores"; by the name of the test."""
