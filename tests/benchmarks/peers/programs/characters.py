"""What examples/characters.cpp does, in PyTorch."""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

file = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/common-licenses/GPL-3"
prompt = sys.argv[2] if len(sys.argv) > 2 else "You may "
text = open(file).read()
characters = sorted(set(text))
ids = {c: i for i, c in enumerate(characters)}
tokens = torch.tensor([ids[c] for c in text])
training = len(tokens) * 9 // 10
torch.manual_seed(1)


def windows(tokens, stride, **options):
    x, y = tokens[:-1].unfold(0, 64, stride), tokens[1:].unfold(0, 64, stride)
    return DataLoader(TensorDataset(x, y), batch_size=32, **options)


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(len(characters), 64)
        self.positions = nn.Parameter(0.02 * torch.randn(64, 64))
        nn.init.normal_(self.tokens.weight, std=0.02)
        layer = nn.TransformerEncoderLayer(64, 4, 256, 0.1, "gelu", batch_first=True,
                                           norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 3, nn.LayerNorm(64), enable_nested_tensor=False)

    def forward(self, x):
        time = x.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(time)
        x = self.tokens(x) + self.positions[:time]
        return self.blocks(x, mask, is_causal=True) @ self.tokens.weight.T


def loss_of(model, x, y):
    return nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())


model = Gpt()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
held_out = windows(tokens[training:], 64)
for epoch in range(16):
    model.train()
    for x, y in windows(tokens[:training], 16, shuffle=True):
        optimizer.zero_grad()
        loss_of(model, x, y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        losses = [(loss_of(model, x, y), len(x)) for x, y in held_out]
    loss = sum(loss * n for loss, n in losses) / sum(n for _, n in losses)
    print(f"epoch {epoch + 1}: validation loss {loss:.3f}")

text = torch.tensor([[ids[c] for c in prompt]])
with torch.no_grad():
    for _ in range(300):
        logits = model(text[:, -64:])[0, -1] / 0.8
        text = torch.cat([text, torch.multinomial(logits.softmax(-1), 1)[None]], 1)
print("".join(characters[i] for i in text[0]))
