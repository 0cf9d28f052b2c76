"""What examples/fine_tune.cpp does, in PyTorch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 32, batch_first=True)
        self.output = nn.Linear(32, 1)

    def forward(self, x):
        return self.output(self.gru(x)[0])


def series(steps, height, seed):
    torch.manual_seed(seed)
    rows = height * torch.sin(0.3 * torch.arange(float(steps))) + 0.05 * torch.randn(steps)
    x, y = rows[:-1].unfold(0, 40, 1)[..., None], rows[1:].unfold(0, 40, 1)[..., None]
    return DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)


def train(model, windows, epochs):
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=5e-3)
    for _ in range(epochs):
        for x, y in windows:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()


def mean_loss(model, windows):
    with torch.no_grad():
        losses = [(nn.functional.mse_loss(model(x), y), len(x)) for x, y in windows]
    return float(sum(loss * n for loss, n in losses) / sum(n for _, n in losses))


test = series(400, 2.0, 3)
model, loaded, from_scratch = Forecaster(), Forecaster(), Forecaster()
train(model, series(1000, 1.0, 1), 5)
torch.save(model.state_dict(), "fine_tune.pt")
print(loaded.load_state_dict(torch.load("fine_tune.pt")))
print(f"test MSE before {mean_loss(loaded, test):.4f}")
loaded.gru.requires_grad_(False)
train(loaded, series(72, 2.0, 2), 20)
train(from_scratch, series(72, 2.0, 2), 20)
print(f"fine-tuned {mean_loss(loaded, test):.4f}, "
      f"trained from scratch {mean_loss(from_scratch, test):.4f}")
