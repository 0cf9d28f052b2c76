"""nanoGPT's recipe for CPUs in PyTorch: a character model of 0.8 M parameters.

The sizes and numbers are those of nanoGPT's config/train_shakespeare_char.py with the options that
its README gives for a CPU. The last tenth of the text is held out.

usage: nanogpt.py TEXT SEED THREADS [STEPS] [eager|compile]
prints: seconds of training, the validation loss of 200 random batches, and that of the whole last
tenth in windows of 64
"""
import math
import sys
import time
from pathlib import Path

import torch
from torch.nn import functional as F

sys.path.append(str(Path(__file__).parents[3] / "golden"))
from nanogpt_form import NanoGpt  # noqa: E402

LAYERS, HEADS, WIDTH, CONTEXT, BATCH = 4, 4, 128, 64, 12
PEAK, FINAL, WARMUP, STEPS = 1e-3, 1e-4, 100, 2000


def read_tokens(path):
    """The ids of the characters of the first nine tenths and of the rest, and the vocabulary."""
    text = Path(path).read_text()
    characters = sorted(set(text))
    ids = {character: i for i, character in enumerate(characters)}
    tokens = torch.tensor([ids[character] for character in text])
    training = len(tokens) * 9 // 10
    return tokens[:training], tokens[training:], len(characters)


def random_batch(tokens):
    starts = torch.randint(len(tokens) - CONTEXT, (BATCH,))
    windows = torch.stack([tokens[i:i + CONTEXT + 1] for i in starts])
    return windows[:, :-1], windows[:, 1:]


def new_model(vocabulary):
    model = NanoGpt(vocabulary, CONTEXT, WIDTH, HEADS, LAYERS, bias=False)
    for name, parameter in model.named_parameters():
        if parameter.dim() >= 2:
            before_residual = name.endswith("c_proj.weight")
            torch.nn.init.normal_(parameter,
                                  std=0.02 / math.sqrt(2 * LAYERS) if before_residual else 0.02)
    return model


def new_optimizer(model):
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    return torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1},
                              {"params": others, "weight_decay": 0.0}], lr=PEAK, betas=(0.9, 0.99))


def learning_rate(step, steps=STEPS):
    """Of step 0, 1, …"""
    if step < WARMUP:
        return PEAK * (step + 1) / (WARMUP + 1)
    progress = min(1.0, (step - WARMUP) / max(1, steps - WARMUP))
    return FINAL + (PEAK - FINAL) * (1 + math.cos(math.pi * progress)) / 2


def loss_of(model, inputs, targets):
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())


def train_step(model, optimizer, batch, rate):
    """Returns the loss before the step."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    loss = loss_of(model, *batch)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.detach()


@torch.no_grad()
def validation_losses(model, tokens):
    """Of 200 random batches, and of consecutive windows."""
    batches = [random_batch(tokens) for _ in range(200)]
    windows = (len(tokens) - 1) // CONTEXT
    inputs = tokens[:windows * CONTEXT].view(windows, CONTEXT)
    targets = tokens[1:windows * CONTEXT + 1].view(windows, CONTEXT)
    parts = list(zip(inputs.split(100), targets.split(100)))
    return (sum(loss_of(model, *batch).item() for batch in batches) / len(batches),
            sum(loss_of(model, *part).item() * len(part[0]) for part in parts) / windows)


def main():
    path, seed, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    steps = int(sys.argv[4]) if len(sys.argv) > 4 else STEPS
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    training, held_out, vocabulary = read_tokens(path)
    model = new_model(vocabulary)
    optimizer = new_optimizer(model)
    run = torch.compile(model) if sys.argv[5:] == ["compile"] else model
    start = time.perf_counter()
    for step in range(steps):
        train_step(run, optimizer, random_batch(training), learning_rate(step, steps))
    seconds = time.perf_counter() - start
    print(f"{seconds:.2f} {'{:.4f} {:.4f}'.format(*validation_losses(model, held_out))}")


if __name__ == "__main__":
    main()
