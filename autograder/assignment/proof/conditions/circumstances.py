"""Conditions on how a component is called, and on what came before: mode, precision, time."""

import torch
from torch import Tensor

from .components import ANY, NN, ON_FLOATS, ON_TENSORS, WITH_DROPOUT, WITH_MASKS
from .condition import Condition, under
from .moment import Moment


def same_shape(moment: Moment) -> bool:
    """Whether the call before had arguments of the same shapes, of which one had other contents."""
    if moment.last is None:
        return False
    old = {name: value for name, value in moment.last.items() if isinstance(value, Tensor)}
    new = {name: value for name, value in moment.arguments.items() if isinstance(value, Tensor)}
    alike = old.keys() == new.keys() and all(new[name].shape == old[name].shape for name in old)
    return alike and any(not torch.equal(new[name], old[name]) for name in old)


def is_frozen(moment: Moment) -> bool:
    """Whether the object has parameters, and none is learned."""
    parameters = [] if moment.module is None else list(moment.module.parameters())
    return bool(parameters) and not any(parameter.requires_grad for parameter in parameters)


CIRCUMSTANCES: dict[str, Condition] = (
    under(
        "mode and precision",
        ON_TENSORS,
        no_grad=lambda m: not torch.is_grad_enabled() and not torch.is_inference_mode_enabled(),
        inference_mode=lambda m: torch.is_inference_mode_enabled(),
        gradients_on=lambda m: torch.is_grad_enabled() and (not m.floats or any(t.requires_grad for t in m.floats)),
        tensors_that_are_not_contiguous=lambda m: any(
            not tensor.is_contiguous() for tensor in [*m.tensors, *m.given_masks]
        ),
    )
    | under(
        "mode and precision",
        ON_FLOATS,
        inputs_that_need_no_gradient=lambda m: torch.is_grad_enabled() and not any(t.requires_grad for t in m.floats),
    )
    | under("mode and precision", NN, train_mode=lambda m: m.module is not None and m.module.training)
    | under("mode and precision", NN, parameters_that_need_no_gradient=is_frozen)
    | under("mode and precision", NN, eval_mode=lambda m: m.module is not None and not m.module.training)
    | under(
        "mode and precision",
        ON_TENSORS,
        float32=lambda m: any(
            tensor.dtype == torch.float32 for tensor in (*m.floats, *(m.module.parameters() if m.module else ()))
        ),
    )
    | under(
        "mode and precision",
        WITH_DROPOUT,
        train_mode_and_more_than_12_positions=lambda m: (
            m.module is not None and m.module.training and m.sizes().get("q", 0) > 12
        ),
    )
    | under(
        "time",
        WITH_MASKS,
        no_mask_after_a_call_with_one=lambda m: (
            m.last is not None
            and any(
                isinstance(m.last.get(name), Tensor) and m.arguments[name] is None
                for name in m.arguments
                if name.endswith("mask")
            )
        ),
    )
    | under(
        "time",
        NN,
        other_weights_in_eval_mode_without_gradients=lambda m: (
            m.has_other_weights and not torch.is_grad_enabled() and m.module is not None and not m.module.training
        ),
    )
    | under("time", ANY, the_second_call=lambda m: m.calls > 0)
    | under("time", NN, after_ten_calls=lambda m: m.calls > 9)
    | under("time", ON_TENSORS, other_arguments_of_the_same_shapes=same_shape)
    | under(
        "time",
        NN,
        a_deep_copy=lambda m: m.is_copied,
        weights_from_a_state_dict=lambda m: m.is_restored,
        other_weights_than_at_first=lambda m: m.has_other_weights,
    )
)
