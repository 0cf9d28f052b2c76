"""The benchmarks with JAX: one training step of a workload, jitted as a whole.

usage: jax_step.py WORKLOAD THREADS SECONDS
prints: median_ms tokens mean_ms peak_mib
"""
import os
import sys

workload, threads, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
# XLA uses one thread per processor in the affinity mask.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])

import jax
import jax.numpy as jnp

from measure import report

key = jax.random.PRNGKey(0)


def normal(*shape):
    global key
    key, subkey = jax.random.split(key)
    return 0.02 * jax.random.normal(subkey, shape)


def linear(x, p):
    return x @ p["w"] + p["b"] if "b" in p else x @ p["w"]


def norm(x, p):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p["g"] + p["b"]


def attend(q, k, v, heads, causal=False):
    split = lambda x: x.reshape(*x.shape[:2], heads, -1)
    y = jax.nn.dot_product_attention(split(q), split(k), split(v), is_causal=causal)
    return y.reshape(q.shape)


def block(x, p, heads, activation, causal, memory=None):
    q, k, v = jnp.split(linear(norm(x, p["n1"]), p["qkv"]), 3, -1)
    x = x + linear(attend(q, k, v, heads, causal), p["o"])
    if memory is not None:
        h = norm(x, p["n3"])
        k, v = jnp.split(linear(memory, p["kv"]), 2, -1)
        x = x + linear(attend(linear(h, p["q"]), k, v, heads), p["o2"])
    return x + linear(activation(linear(norm(x, p["n2"]), p["f1"])), p["f2"])


def new_linear(n, m):
    return {"w": normal(n, m), "b": jnp.zeros(m)}


def new_norm(n):
    return {"g": jnp.ones(n), "b": jnp.zeros(n)}


def new_block(c, cross=False):
    p = {"n1": new_norm(c), "n2": new_norm(c), "qkv": new_linear(c, 3 * c), "o": new_linear(c, c),
         "f1": new_linear(c, 4 * c), "f2": new_linear(4 * c, c)}
    if cross:
        p |= {"n3": new_norm(c), "q": new_linear(c, c), "kv": new_linear(c, 2 * c),
              "o2": new_linear(c, c)}
    return p


def cross_entropy(logits, targets, smoothing=0.0):
    logp = jax.nn.log_softmax(logits)
    picked = jnp.take_along_axis(logp, targets[..., None], -1)
    return -((1 - smoothing) * picked.mean() + smoothing * logp.mean())


def adamw(parameters, gradients, state, lr=1e-3, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
    m, v, t = state
    grad_norm = jnp.sqrt(sum((g * g).sum() for g in jax.tree.leaves(gradients)))
    gradients = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / (grad_norm + 1e-6)), gradients)
    t = t + 1
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, m, gradients)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, v, gradients)
    update = lambda p, m, v: p - lr * (
        m / (1 - b1**t) / (jnp.sqrt(v / (1 - b2**t)) + eps) + decay * p)
    return jax.tree.map(update, parameters, m, v), (m, v, t)


def training_step(parameters, loss):
    zeros = lambda: jax.tree.map(jnp.zeros_like, parameters)

    def step(parameters, state):
        return adamw(parameters, jax.grad(loss)(parameters), state)

    run = jax.jit(step, donate_argnums=(0, 1))
    carry = [parameters, (zeros(), zeros(), 0.0)]

    def run_step():
        carry[0], carry[1] = run(carry[0], carry[1])
        jax.block_until_ready(carry[0])

    return run_step


def gpt_step(vocabulary, context, layers, heads, width, batch):
    parameters = {"te": normal(vocabulary, width), "pe": normal(context, width),
                  "blocks": [new_block(width) for _ in range(layers)], "nf": new_norm(width)}
    x = jax.random.randint(key, (batch, context), 0, vocabulary)
    gelu = lambda x: jax.nn.gelu(x, approximate=True)

    def loss(p):
        h = p["te"][x] + p["pe"]
        for b in p["blocks"]:
            h = block(h, b, heads, gelu, True)
        return cross_entropy(norm(h, p["nf"]) @ p["te"].T, x)

    return training_step(parameters, loss), batch * context


def pronunciation_step(letters=31, phones=43, layers=2, heads=4, width=96, batch=128, length=8):
    parameters = {"le": normal(letters, width), "pe": normal(phones, width),
                  "encoder": [new_block(width) for _ in range(layers)], "ne": new_norm(width),
                  "decoder": [new_block(width, True) for _ in range(layers)],
                  "nd": new_norm(width), "out": new_linear(width, phones)}
    table = normal(length, width)
    x = jax.random.randint(key, (batch, length), 0, letters)
    y = jax.random.randint(key, (batch, length), 0, phones)

    def loss(p):
        memory = p["le"][x] + table
        for b in p["encoder"]:
            memory = block(memory, b, heads, jax.nn.relu, False)
        memory, h = norm(memory, p["ne"]), p["pe"][y] + table
        for b in p["decoder"]:
            h = block(h, b, heads, jax.nn.relu, True, memory)
        return cross_entropy(linear(norm(h, p["nd"]), p["out"]), y, 0.1)

    return training_step(parameters, loss), batch * length


def attention_step(width, heads, batch, queries, keys):
    parameters = {name: {"w": normal(width, width)} for name in "qkvo"}
    parameters |= {"x": normal(batch, queries, width), "y": normal(batch, keys, width)}
    upstream = normal(batch, queries, width)

    def run(p):
        y = attend(linear(p["x"], p["q"]), linear(p["y"], p["k"]), linear(p["y"], p["v"]), heads)
        return (linear(y, p["o"]) * upstream).sum()

    gradient = jax.jit(jax.grad(run))
    return lambda: jax.block_until_ready(gradient(parameters)), batch * queries


GPTS = {"W1": (30, 10, 2, 4, 32, 64), "W2": (65, 64, 4, 4, 128, 12),
        "W3": (65, 256, 6, 6, 384, 8), "W4": (50257, 64, 12, 12, 768, 4)}
if workload in GPTS:
    step, tokens = gpt_step(*GPTS[workload])
elif workload == "W5":
    step, tokens = pronunciation_step()
elif workload == "W6":
    step, tokens = attention_step(100, 5, 2, 4, 6)
else:
    length = int(workload.removeprefix("W6-"))
    step, tokens = attention_step(512, 8, 1, length, length)

report(step, tokens, seconds)
