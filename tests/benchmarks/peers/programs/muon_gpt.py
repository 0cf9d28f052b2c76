"""The model and the recipe of `gpt train --preset muon` in PyTorch.

The sizes, the batches and the split of the text are those of nanogpt.py. Muon updates the weight
matrices of the blocks, and AdamW all other parameters. torch.optim.Muon computes its matrix
products in bfloat16, which is slow on processors without instructions for bfloat16; with float32,
the program computes them in float32.

usage: muon_gpt.py TEXT SEED THREADS [STEPS] [bfloat16|float32] [eager|compile]
prints: seconds of training without validation, and the validation loss of the whole last tenth
"""
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

from nanogpt import (CONTEXT, HEADS, LAYERS, WIDTH, loss_of, random_batch, read_tokens,
                     validation_losses)

MUON_LR, ADAMW_FACTOR, DECAY, BETAS, STEPS = 0.015, 0.3, 0.1, (0.9, 0.95), 1000
HEAD = WIDTH // HEADS
KV_HEADS = HEADS // 2
KV_WIDTH = KV_HEADS * HEAD
FFN = 3 * WIDTH


def rotation():
    """The cosines and sines of the angles of rotary positions, [time, head size] each."""
    frequencies = 1.0 / 10000.0 ** (torch.arange(0, HEAD, 2) / HEAD)
    angles = torch.outer(torch.arange(CONTEXT), frequencies).repeat(1, 2)
    return angles.cos(), angles.sin()


def rotated(x, cosines, sines):
    """x [batch, heads, time, head size], whose channels are paired by halves."""
    time_steps = x.shape[-2]
    first, second = x.chunk(2, -1)
    return x * cosines[:time_steps] + torch.cat([-second, first], -1) * sines[:time_steps]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.output = (
            nn.Linear(WIDTH, size, bias=False) for size in (WIDTH, KV_WIDTH, KV_WIDTH, WIDTH))
        self.q_norm, self.k_norm = nn.RMSNorm(HEAD, eps=1e-5), nn.RMSNorm(HEAD, eps=1e-5)
        for name, values in zip(("cosines", "sines"), rotation()):
            self.register_buffer(name, values)

    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, (-1, HEAD)).transpose(1, 2)
                   for layer in (self.q, self.k, self.v))
        q = rotated(self.q_norm(q), self.cosines, self.sines)
        k = rotated(self.k_norm(k), self.cosines, self.sines)
        k, v = (x.repeat_interleave(HEADS // KV_HEADS, 1) for x in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(y.transpose(1, 2).flatten(-2))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.hidden = (nn.Linear(WIDTH, FFN, bias=False) for _ in range(2))
        self.output = nn.Linear(FFN, WIDTH, bias=False)

    def forward(self, x):
        return self.output(F.silu(self.gate(x)) * self.hidden(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH, eps=1e-5), nn.RMSNorm(WIDTH, eps=1e-5)
        self.attention, self.ffn = Attention(), FeedForward()

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.RMSNorm(WIDTH, eps=1e-5)
        self.output = nn.Linear(WIDTH, vocabulary, bias=False)
        for name, parameter in self.named_parameters():
            if name.endswith("output.weight"):
                nn.init.zeros_(parameter)
            elif parameter.dim() >= 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, x):
        return self.output(self.norm(self.blocks(self.tokens(x))))


class Float32Muon(torch.optim.Optimizer):
    """torch.optim.Muon with products in float32."""

    def __init__(self, parameters, lr, weight_decay, momentum):
        super().__init__(parameters, dict(lr=lr, decay=weight_decay, momentum=momentum))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            lr, momentum = group["lr"], group["momentum"]
            for parameter in group["params"]:
                state = self.state[parameter]
                if not state:
                    state["average"] = torch.zeros_like(parameter)
                average = state["average"].lerp_(parameter.grad, 1 - momentum)
                update = orthogonal(parameter.grad.lerp(average, momentum))
                rows, columns = parameter.shape
                parameter.mul_(1 - lr * group["decay"])
                parameter.add_(update, alpha=-lr * max(1.0, rows / columns) ** 0.5)


def orthogonal(x):
    """x after five Newton-Schulz steps."""
    is_tall = x.shape[0] > x.shape[1]
    x = x.T if is_tall else x
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(5):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=-4.775, alpha=2.0315), x, beta=3.4445)
    return x.T if is_tall else x


def new_optimizers(model, muon):
    blocks = [p for p in model.blocks.parameters() if p.dim() == 2]
    tables = [model.tokens.weight, model.output.weight]
    norms = [p for p in model.parameters() if p.dim() < 2]
    return (muon(blocks, lr=MUON_LR, weight_decay=DECAY, momentum=0.95),
            torch.optim.AdamW([{"params": tables, "weight_decay": DECAY},
                               {"params": norms, "weight_decay": 0.0}],
                              lr=MUON_LR * ADAMW_FACTOR, betas=BETAS))


def main():
    path, seed, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    steps = int(sys.argv[4]) if len(sys.argv) > 4 else STEPS
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    training, held_out, vocabulary = read_tokens(path)
    model = Gpt(vocabulary)
    muon = Float32Muon if "float32" in sys.argv[5:] else torch.optim.Muon
    optimizers = new_optimizers(model, muon)
    # Step 1, 2, … has the rate lr · (steps - step) / steps.
    schedules = [torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: (steps - i - 1) / steps)
                 for optimizer in optimizers]
    run = torch.compile(model) if "compile" in sys.argv[5:] else model
    start = time.perf_counter()
    for _ in range(steps):
        loss_of(run, *random_batch(training)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, schedule in zip(optimizers, schedules):
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
    seconds = time.perf_counter() - start
    print(f"{seconds:.2f} {validation_losses(model, held_out)[1]:.4f}")


if __name__ == "__main__":
    main()
