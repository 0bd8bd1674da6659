"""Code that runs in the worker beside a submission, in place of its other components and as arguments of its functions.

So each component can be judged on its own. Nothing here gives an answer away, and a mistake in what a component passes
to a stand-in shows in the result. The worker loads this package by itself: it imports torch and nothing else of the
kit. Any function that it exports can be a test's `submission.apply(name, …)`; what has the name of a component of the
contract replaces it.

    components.py  in place of the components of the contract
    formulas.py    what those compute
    models.py      small models, and what is run with them
    hunting.py     a component with one line changed, beside the component
    rehearsal.py   trains a whole model for a moment
    own_tests.py   tries a student's own tests on implementations of what they test
    watching.py    looks on while a component runs, or `train_epoch`
"""

from .components import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    FeedForward,
    InputEmbedding,
    LayerNorm,
    MultiHeadedAttention,
    PositionalEncoding,
    attention_inputs,
    causal_mask,
    inner_calls,
    isolate,
    padding_mask,
    scaled_dot_product_attention,
)
from .hunting import Hunt, find
from .models import (
    Batch,
    call_after,
    call_copy,
    call_each,
    call_without_dropout,
    device_of,
    make_batch,
    search,
    train,
    watch_training,
)
from .own_tests import try_test
from .rehearsal import keep, rehearse
from .watching import left_behind, watch
