"""What examples/forecast.cpp does, in PyTorch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
noise = 0.1
t = 2 * torch.pi * torch.arange(1300.0)
series = (torch.sin(t / 25) + 0.5 * torch.sin(t / 11) + noise * torch.randn(1300))[:, None]


def windows(rows, stride, **options):
    x = rows[:-1].unfold(0, 40, stride).transpose(1, 2)
    y = rows[1:].unfold(0, 40, stride).transpose(1, 2)
    return DataLoader(TensorDataset(x, y), batch_size=32, **options)


training, held_out = windows(series[:1000], 1, shuffle=True), windows(series[1000:], 40)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 32, batch_first=True)
        self.output = nn.Linear(32, 1)

    def forward(self, x):
        return self.output(self.gru(x)[0])


def mean_loss(function):
    with torch.no_grad():
        losses = [(nn.functional.mse_loss(function(x), y), len(x)) for x, y in held_out]
    return float(sum(loss * n for loss, n in losses) / sum(n for _, n in losses))


model = Forecaster()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for epoch in range(15):
    for x, y in training:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"epoch {epoch + 1}: loss {loss:.4f}, validation loss {mean_loss(model):.4f}")
print(f"test MSE {mean_loss(model):.4f}, repeating the last value {mean_loss(lambda x: x):.4f}, "
      f"noise {noise**2:.4f}")
