"""What examples/languages.cpp does, in PyTorch."""
import csv
import random
import sys

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

with open(sys.argv[1]) as file:
    rows = list(csv.DictReader(file))
letters = {c: i for i, c in enumerate(sorted(set("".join(row["word"] for row in rows))))}
languages = {name: i for i, name in enumerate(sorted({row["language"] for row in rows}))}
examples = [(torch.tensor([letters[c] for c in row["word"]]), languages[row["language"]])
            for row in rows]
random.seed(1)
torch.manual_seed(1)
random.shuffle(examples)
split = round(0.8 * len(examples))
training, held_out = examples[:split], examples[split:]


def collate(batch):
    words = pad_sequence([word for word, _ in batch], batch_first=True)
    lengths = torch.tensor([len(word) for word, _ in batch])
    return words, lengths, torch.tensor([label for _, label in batch])


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(letters), 64)
        self.positions = nn.Parameter(0.02 * torch.randn(32, 64))
        layer = nn.TransformerEncoderLayer(64, 4, 128, 0.2, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.output = nn.Linear(64, len(languages))

    def forward(self, words, lengths):
        padding = torch.arange(words.shape[1])[None] >= lengths[:, None]
        x = self.embedding(words) * 8 + self.positions[:words.shape[1]]
        x = self.encoder(x, src_key_padding_mask=padding)
        return self.output(x.masked_fill(padding[..., None], float("-inf")).amax(1))


model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1)
batches = torch.utils.data.DataLoader(training, 16, shuffle=True, collate_fn=collate)
for epoch in range(25):
    model.train()
    for words, lengths, labels in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(words, lengths), labels).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        words, lengths, labels = collate(held_out)
        logits = model(words, lengths)
        loss = nn.functional.cross_entropy(logits, labels)
        accuracy = (logits.argmax(-1) == labels).float().mean()
    print(f"epoch {epoch + 1}: validation loss {loss:.3f}, accuracy {accuracy:.3f}")
