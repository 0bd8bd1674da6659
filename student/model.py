"""Encoder, decoder, and the whole Transformer.

Shapes: b batch · s source length · t target length · h heads · d = d_model.
Masks are boolean, True = may attend; None = no restriction.
A component leaves its arguments, its mode and the settings of the program as they are, keeps nothing from one call to
the next, and works in float32 and float64.
Paper: Vaswani et al. 2017, section 3 and figure 1.
"""

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from .masks import causal_mask, padding_mask


class Encoder(nn.Module):
    """A stack of `n_layers` encoder layers, each with its own parameters.

    A pre-norm stack ends with a LayerNorm, because nothing else normalises the sum that its residual
    connections build up (Xiong et al. 2020, table 1).
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        dropout: float = 0.1,
        norm_first: bool = False,
    ) -> None:
        """Creates the layers and, if `norm_first`, the last LayerNorm."""
        super().__init__()
        # TODO 2.3: create the stack of layers in an nn.ModuleList.
        raise NotImplementedError("TODO 2.3")
        self.norm_first = norm_first
        if norm_first:
            # TODO E.2: (extension) create the LayerNorm that ends a pre-norm stack.
            raise NotImplementedError("TODO E.2")

    def forward(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, list[Tensor]]:
        """Applies all layers in turn.

        Args:
            x: (b, s, d).
            mask: broadcastable to (b, h, s, s).

        Returns:
            x (b, s, d), and the attention weights of each layer, (b, h, s, s), first layer first.
        """
        # TODO 2.3: apply the layers in turn and collect their weights in the list `all_weights`.
        raise NotImplementedError("TODO 2.3")
        if self.norm_first:
            # TODO E.2: (extension) normalise x once more.
            raise NotImplementedError("TODO E.2")
        return x, all_weights


class Decoder(nn.Module):
    """A stack of `n_layers` decoder layers; if `norm_first`, it ends with a LayerNorm as the `Encoder` does."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        dropout: float = 0.1,
        norm_first: bool = False,
    ) -> None:
        """Creates the layers and, if `norm_first`, the last LayerNorm."""
        super().__init__()
        # TODO 2.3: create the stack of layers in an nn.ModuleList.
        raise NotImplementedError("TODO 2.3")
        self.norm_first = norm_first
        if norm_first:
            # TODO E.2: (extension) create the LayerNorm that ends a pre-norm stack.
            raise NotImplementedError("TODO E.2")

    def forward(
        self, x: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """Applies all layers in turn.

        Args:
            x: (b, t, d).
            memory: the encoder's output, (b, s, d).
            src_mask: broadcastable to (b, h, t, s).
            tgt_mask: broadcastable to (b, h, t, t).

        Returns:
            x (b, t, d), and two lists with the attention weights of each layer, first layer first:
            self-attention (b, h, t, t) and cross-attention (b, h, t, s).
        """
        # TODO 2.3: apply the layers in turn and collect their weights in the lists `all_self_weights`
        # and `all_cross_weights`.
        raise NotImplementedError("TODO 2.3")
        if self.norm_first:
            # TODO E.2: (extension) normalise x once more.
            raise NotImplementedError("TODO E.2")
        return x, all_self_weights, all_cross_weights


class Transformer(nn.Module):
    """The sequence-to-sequence model (figure 1): embeddings, encoder, decoder, output projection.

    Training and decoding call `encode`, `decode` and `get_predictions`. `forward` and `generate` put these together.
    """

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        dropout: float = 0.1,
        norm_first: bool = False,
    ) -> None:
        """Creates all parts, a table for each side; `dropout` reaches the positional encodings and every layer."""
        super().__init__()
        # TODO 2.4: create an `InputEmbedding` and a `PositionalEncoding` for each side, the `Encoder`
        # and the `Decoder`; `dropout` goes to the positional encodings too.
        raise NotImplementedError("TODO 2.4")
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)

    def encode(self, src: Tensor, encoder_mask: Tensor | None) -> tuple[Tensor, list[Tensor]]:
        """Reads the source.

        Args:
            src: ids, int64, (b, s).
            encoder_mask: which source positions may attend to which, broadcastable to (b, h, s, s).

        Returns:
            memory (b, s, d), and the attention weights of each layer, (b, h, s, s).
        """
        # TODO 2.4: embed the source, add positions, and apply the encoder.
        raise NotImplementedError("TODO 2.4")

    def decode(
        self, tgt: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """Reads the target so far and the memory.

        Args:
            tgt: ids, int64, (b, t), beginning with bos.
            memory: the encoder's output, (b, s, d).
            src_mask: broadcastable to (b, h, t, s).
            tgt_mask: broadcastable to (b, h, t, t).

        Returns:
            output (b, t, d), whose position i predicts the token after tgt[:, i], and two lists with the
            weights of each layer: self-attention (b, h, t, t) and cross-attention (b, h, t, s).
        """
        # TODO 2.4: embed the target, add positions, and apply the decoder.
        raise NotImplementedError("TODO 2.4")

    def get_predictions(self, output: Tensor) -> Tensor:
        """Computes the log-probabilities of the next token: (b, t, d) -> (b, t, tgt_vocab_size).

        `nn.CrossEntropyLoss` accepts them like unnormalised scores: normalising twice changes nothing.
        """
        return self.output_projection(output).log_softmax(dim=-1)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        encoder_mask: Tensor | None = None,
    ) -> Tensor:
        """Predicts each token of the target from the source and the tokens before it.

        Args:
            src: ids, int64, (b, s).
            tgt: ids, int64, (b, t), beginning with bos.
            src_mask: which source positions may be attended to, broadcastable to (b, h, t, s); None = all.
            tgt_mask: which target positions may attend to which, broadcastable to (b, h, t, t); None = to no later one.
            encoder_mask: for the encoder's self-attention, broadcastable to (b, h, s, s); None = src_mask.

        Returns:
            Log-probabilities (b, t, tgt_vocab_size); position i predicts the token after tgt[:, i].
        """
        memory, _ = self.encode(src, src_mask if encoder_mask is None else encoder_mask)
        tgt_mask = causal_mask(tgt.size(1), tgt.device) if tgt_mask is None else tgt_mask
        output, _, _ = self.decode(tgt, memory, src_mask=src_mask, tgt_mask=tgt_mask)
        return self.get_predictions(output)

    def generate(
        self,
        src: Tensor,
        *,
        bos_id: int,
        eos_id: int,
        pad_id: int,
        max_length: int = 50,
        beam_size: int = 1,
        search: Callable[..., list[list[int]]] | None = None,
    ) -> list[list[int]]:
        """Translates a batch, greedily or with a beam; see `decode.py`.

        Args:
            src: ids, int64, (b, s), filled up with pad_id.
            bos_id: begins every target sentence.
            eos_id: ends every target sentence.
            pad_id: fills up a batch.
            max_length: the most tokens of a translation, eos included.
            beam_size: 1 = greedy search.
            search: in place of these two; `choose_search` in `given/decoding.py` returns the fastest.

        Returns:
            The ids of each sentence, without bos and eos.
        """
        from .decode import beam_decode, greedy_decode  # here: a mistake in decode.py must not break the model

        if search is None:
            search = greedy_decode if beam_size == 1 else partial(beam_decode, beam_size=beam_size)
        ids = {"bos_id": bos_id, "eos_id": eos_id, "pad_id": pad_id}
        return search(self, src, padding_mask(src, pad_id), None, **ids, max_length=max_length)
