"""What examples/digits.cpp does, in PyTorch."""
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
rows = torch.tensor(np.loadtxt(sys.argv[1], delimiter=","), dtype=torch.float32)
images, labels = rows[:, :64].reshape(-1, 8, 8) / 16, rows[:, 64].long()
split = len(rows) * 4 // 5
training = DataLoader(TensorDataset(images[:split], labels[:split]), batch_size=32, shuffle=True)
held_out = DataLoader(TensorDataset(images[split:], labels[split:]), batch_size=32)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.input = nn.Linear(8, 64)
        self.position = nn.Parameter(0.02 * torch.randn(8, 64))
        block = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(block, 2)
        self.output = nn.Linear(64, 10)

    def forward(self, images):
        return self.output(self.encoder(self.input(images) + self.position).mean(1))


def evaluate():
    loss = correct = 0.0
    model.eval()
    with torch.no_grad():
        for x, y in held_out:
            logits = model(x)
            loss += float(nn.functional.cross_entropy(logits, y, reduction="sum"))
            correct += int((logits.argmax(-1) == y).sum())
    model.train()
    return loss / len(labels[split:]), correct / len(labels[split:])


model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(15):
    for x, y in training:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    validation_loss, accuracy = evaluate()
    print(f"epoch {epoch + 1}: loss {loss:.4f}, validation loss {validation_loss:.4f}, "
          f"accuracy {accuracy:.4f}")
