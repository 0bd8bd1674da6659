"""What the tests check, in words: "the test that checks very large scores".

Left out are tests whose failure says little by itself: those of many situations, of small sizes, of dtypes.
"""

from collections.abc import Mapping

TESTS: Mapping[str, str] = {
    # 1.1
    "test_vectors_are_looked_up_and_scaled": "the vectors of random tokens against the formula",
    "test_one_table_is_learned": "how many numbers are learned",
    "test_gradient_reaches_the_tokens_that_occur": "the gradient of the table's rows",
    # 1.2
    "test_context_without_a_mask": "the context without a mask",
    "test_weights_without_a_mask": "the weights without a mask",
    "test_masks_of_every_shape": "context and weights with masks of several shapes",
    "test_masked_keys_cannot_matter": "whether the content of forbidden keys and values can change anything",
    "test_masked_keys_among_very_negative_scores": "a mask where every score is far below 0",
    "test_query_without_any_key_stays_finite": "a query that may attend to nothing",
    "test_large_scores": "very large scores",
    "test_order_of_the_keys_does_not_matter": "keys and values that are reordered together",
    # 1.3
    "test_self_attention": "self-attention, where query, key and value are the same tensor",
    "test_query_key_and_value_differ": "a query, a key and a value that all differ",
    "test_mask_reaches_every_head": "whether a mask acts on every head",
    "test_heads_that_do_not_divide_are_refused": "numbers of heads that do not divide d_model",
    "test_number_of_heads": "one head, and many heads",
    "test_four_projections_are_learned": "how many numbers the projections have",
    # 1.4
    "test_three_axes": "a batch of sentences against the formula",
    "test_any_number_of_axes": "inputs with one, two and four axes",
    "test_population_variance": "two features, far apart",
    "test_epsilon_stands_under_the_root": "a large epsilon",
    "test_default_epsilon": "an input of very small differences",
    "test_constant_input_stays_finite": "an input whose features are all the same",
    "test_gain_and_shift_at_first": "the parameters before any training",
    "test_same_in_training": "train mode",
    # 1.5
    "test_formula": "random inputs against the formula",
    "test_large_values": "large values",
    "test_number_of_parameters": "how many numbers are learned",
    "test_positions_do_not_mix": "one position by itself",
    # 2.1 to 2.3
    "test_output_and_weights": "output and weights against the formula",
    "test_without_masks": "a call without masks",
    "test_each_sublayer_has_its_own_parts": "how many parameters there are",
    "test_dropout_acts_on_the_sublayers": "where dropout acts",
    "test_dropout_of_single_entries": "which numbers dropout sets to 0",
    "test_no_dropout_is_deterministic": "train mode with a dropout of 0",
    "test_dropout_is_random_in_training_only": "dropout in train mode and in eval mode",
    "test_one_layer": "a single layer",
    "test_layers_have_their_own_parameters": "how many parameters the layers have",
    "test_one_sentence": "one sentence by itself",
    # 2.4
    "test_encode": "what `encode` returns",
    "test_decode": "what `decode` returns",
    "test_number_of_layers": "other numbers of layers",
    "test_dropout_of_positions": "dropout on the positional encodings",
    "test_both_sides_have_their_own_embedding": "which tables there are",
    "test_embeddings_of_equal_size_are_not_shared": "whether source and target share a table",
    "test_gradients_reach_every_parameter": "whether every parameter gets a gradient",
    # 3.1
    "test_parameters_after_an_epoch": "the parameters after an epoch",
    "test_mean_loss_is_returned": "the loss that is returned",
    "test_train_mode": "a model that was in eval mode before",
    "test_old_gradients_are_cleared": "a model that still has gradients",
    "test_accumulation_equals_one_large_batch": "accumulated batches against one large batch",
    "test_clipping": "a small max_grad_norm",
    "test_small_gradients_are_not_clipped": "a max_grad_norm that is never reached",
    "test_scheduler_steps_after_each_step_of_the_optimizer": "the learning rate that a scheduler sets",
    "test_batches_that_can_be_read_once": "batches that can be read only once",
    # several
    "test_gradients": "the gradients",
    "test_arguments_stay_as_they_are": "whether arguments are changed in place, or state is kept",
    "test_argument_stays_as_it_is": "whether the argument is changed in place, or state is kept",
    "test_tokens_stay_as_they_are": "whether the tokens are changed in place, or state is kept",
}
