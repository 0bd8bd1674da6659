"""Where the components of `transformer.py` are; there, masks are True where a key is hidden."""

from . import transformer as mine


def settings_of(d_model, n_heads, d_ff, dropout):
    return {"width": d_model, "heads": n_heads, "hidden": d_ff, "rate": dropout}


def hidden(mask):
    return None if mask is None else ~mask


def seen(blocks, number=0):
    return [block.attentions[number].seen for block in blocks]


class EncoderLayer(mine.Block):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__(settings_of(d_model, n_heads, d_ff, dropout))

    def forward(self, x, mask):
        return super().forward(x, hidden(mask)), *seen([self])


class DecoderLayer(mine.Block):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__(settings_of(d_model, n_heads, d_ff, dropout), is_decoder=True)

    def forward(self, x, memory, src_mask, tgt_mask):
        x = super().forward(x, hidden(tgt_mask), memory, hidden(src_mask))
        return x, *seen([self]), *seen([self], 1)


class Encoder(mine.Stack):
    def __init__(self, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super().__init__(mine.Block, n_layers, **settings_of(d_model, n_heads, d_ff, dropout))

    def forward(self, x, mask):
        return super().forward(x, hidden(mask)), seen(self.blocks)


class Decoder(mine.Stack):
    def __init__(self, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        settings = settings_of(d_model, n_heads, d_ff, dropout)
        super().__init__(lambda given: mine.Block(given, is_decoder=True), n_layers, **settings)

    def forward(self, x, memory, src_mask, tgt_mask):
        x = super().forward(x, hidden(tgt_mask), memory, hidden(src_mask))
        return x, seen(self.blocks), seen(self.blocks, 1)


class Transformer(mine.Model):
    def __init__(self, n_src, n_tgt, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super().__init__((n_src, n_tgt), n_layers, **settings_of(d_model, n_heads, d_ff, dropout))

    def encode(self, src, encoder_mask):
        return self.encoder(self.embed(src, 0), hidden(encoder_mask)), seen(self.encoder.blocks)

    def decode(self, tgt, memory, src_mask, tgt_mask):
        x = self.decoder(self.embed(tgt, 1), hidden(tgt_mask), memory, hidden(src_mask))
        return x, seen(self.decoder.blocks), seen(self.decoder.blocks, 1)

    def get_predictions(self, output):
        return self.predict(output)
