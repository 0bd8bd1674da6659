"""The components that students must write themselves, by PyTorch's names for them."""

import re

LIBRARY = "torch"

CLASSES = re.compile(
    r"LayerNorm|GroupNorm|RMSNorm|SyncBatchNorm|(Lazy)?(Batch|Instance)Norm[123]d|MultiheadAttention|Transformer\w*"
)
FUNCTIONS = re.compile(
    r"_?(native_|fused_|cudnn_|miopen_|quantized_)*(layer|group|instance|batch|rms)_norm(_\w+)?"
    r"|_?scaled_dot_product_\w+"
    r"|_?(flash|efficient|cudnn|mem_efficient|flex)_attention(_\w+)?"
    r"|_?(native_|triton_)?multi_head_attention(_\w+)?|_triton_scaled_dot_attention|varlen_attn"
    r"|_transformer_encoder_layer_fwd"
)
MODULES = {"torch.nn.attention"}

STAR_EXPORTS = {  # forbidden names that `from … import *` brings
    "torch": FUNCTIONS,
    "torch.nn": CLASSES,
    "torch.nn.modules": CLASSES,
    "torch.nn.functional": FUNCTIONS,
}
SUBMODULES = {"torch.nn": {"functional", "modules", "attention"}}


def is_forbidden(path: str) -> bool:
    """Whether a dotted path, "torch.nn.LayerNorm", is on the list, or an attribute of something that is."""
    first, _, rest = path.partition(".")
    if first != LIBRARY:
        return False
    if any(path == module or path.startswith(module + ".") for module in MODULES):
        return True
    return any(CLASSES.fullmatch(part) or FUNCTIONS.fullmatch(part) for part in rest.split("."))


def star_brings(package: str, name: str) -> bool:
    """Whether `from package import *` may define a name that leads to a forbidden one."""
    if package.partition(".")[0] != LIBRARY:
        return False
    if name in SUBMODULES.get(package, ()):
        return True
    pattern = STAR_EXPORTS.get(package)
    if pattern is None:  # some inner module
        return is_forbidden(f"{LIBRARY}.{name}")
    return bool(pattern.fullmatch(name)) and not name.startswith("_")
