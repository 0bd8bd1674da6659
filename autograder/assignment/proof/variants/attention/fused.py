"""One matrix for query, key and value: a single product in self-attention, two in cross-attention."""

from torch import Tensor, nn
from torch.nn.functional import linear

from .attention import scaled_dot_product_attention


class MultiHeadedAttention(nn.Module):
    """The rows of `project_inputs` are W^Q, W^K and W^V, one below the other."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model = {d_model} is not a multiple of n_heads = {n_heads}")
        self.n_heads = n_heads
        self.project_inputs = nn.Linear(d_model, 3 * d_model)
        self.project_output = nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        weight, bias, d_model = self.project_inputs.weight, self.project_inputs.bias, query.size(-1)
        if query is key and key is value:  # self-attention
            q, k, v = self.project_inputs(query).chunk(3, dim=-1)  # each (b, positions, d)
        elif key is value:  # cross-attention
            q = linear(query, weight[:d_model], bias[:d_model])
            k, v = linear(key, weight[d_model:], bias[d_model:]).chunk(2, dim=-1)
        else:
            q, k, v = (
                linear(x, rows, shift)
                for x, rows, shift in zip((query, key, value), weight.chunk(3), bias.chunk(3), strict=True)
            )
        heads = [x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in (q, k, v)]  # (b, h, positions, d_head)
        context, weights = scaled_dot_product_attention(*heads, mask)
        return self.project_output(context.transpose(1, 2).flatten(2)), weights
