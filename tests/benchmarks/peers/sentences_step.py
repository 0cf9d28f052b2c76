"""The benchmark of sentence encoding with PyTorch or ONNX Runtime: the states of 32 sequences of 64
tokens, by a BERT of 6 blocks of width 384 with 12 heads.

usage: sentences_step.py THREADS SECONDS torch|onnx
prints: median_ms tokens mean_ms peak_mib
"""
import os
import sys
import tempfile
import warnings

import torch
import transformers
from torch import nn

from measure import report

BATCH, TIME, VOCABULARY, WIDTH, HEADS, BLOCKS = 32, 64, 30522, 384, 12, 6
threads, seconds, mode = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
torch.set_num_threads(threads)
torch.manual_seed(0)
transformers.logging.set_verbosity_error()
warnings.simplefilter("ignore")
tokens = torch.randint(VOCABULARY, (BATCH, TIME))
seen = torch.ones_like(tokens)


def torch_step():
    config = transformers.BertConfig(vocab_size=VOCABULARY, hidden_size=WIDTH,
                                     num_hidden_layers=BLOCKS, num_attention_heads=HEADS,
                                     intermediate_size=4 * WIDTH)
    model = transformers.BertModel(config, add_pooling_layer=False).eval()

    @torch.inference_mode()
    def step():
        model(input_ids=tokens, attention_mask=seen)

    return step


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x, bias):
        def heads(y):
            return y.view(BATCH, TIME, HEADS, WIDTH // HEADS).permute(0, 2, 1, 3)

        query, key, value = heads(self.query(x)), heads(self.key(x)), heads(self.value(x))
        scores = torch.matmul(query, key.transpose(-1, -2)) / (WIDTH // HEADS) ** 0.5
        y = torch.matmul(torch.softmax(scores + bias, -1), value)
        y = y.permute(0, 2, 1, 3).contiguous().view(BATCH, TIME, WIDTH)
        return self.norm(self.output(y) + x)


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x):
        return self.norm(self.dense2(nn.functional.gelu(self.dense1(x))) + x)


class Bert(nn.Module):
    """In the operations that ONNX Runtime's optimizer knows and fuses."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions, self.segments = nn.Embedding(512, WIDTH), nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.attention = nn.ModuleList(Attention() for _ in range(BLOCKS))
        self.ffn = nn.ModuleList(FeedForward() for _ in range(BLOCKS))

    def forward(self, ids, mask):
        bias = (1.0 - mask[:, None, None, :].float()) * -10000.0
        x = self.tokens(ids) + self.segments(torch.zeros_like(ids))
        x = self.norm(x + self.positions(torch.arange(TIME)[None]))
        for attention, ffn in zip(self.attention, self.ffn):
            x = ffn(attention(x, bias))
        return x


def onnx_step():
    import onnxruntime
    from onnxruntime.transformers import optimizer
    model = Bert().eval()
    inputs = {"input_ids": tokens.numpy(), "attention_mask": seen.numpy()}
    with tempfile.TemporaryDirectory() as folder:
        path, fused_path = os.path.join(folder, "bert.onnx"), os.path.join(folder, "fused.onnx")
        torch.onnx.export(model, (tokens, seen), path, dynamo=False, opset_version=17,
                          input_names=list(inputs), output_names=["states"])
        fused = optimizer.optimize_model(path, "bert", num_heads=HEADS, hidden_size=WIDTH,
                                         opt_level=1)
        counts = fused.get_fused_operator_statistics()
        assert counts["Attention"] == BLOCKS, counts
        fused.save_model_to_file(fused_path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        session = onnxruntime.InferenceSession(fused_path, options,
                                               providers=["CPUExecutionProvider"])
    with torch.inference_mode():
        difference = torch.from_numpy(session.run(None, inputs)[0]) - model(tokens, seen)
    assert difference.abs().max() < 1e-3, difference.abs().max()
    return lambda: session.run(None, inputs)


report(onnx_step() if mode == "onnx" else torch_step(), BATCH * TIME, seconds)
