"""The benchmark of sentence encoding with PyTorch or ONNX Runtime: the states of 32 sequences of 64
tokens, by a BERT of 6 blocks of width 384 with 12 heads.

usage: sentences_step.py THREADS SECONDS torch|onnx
prints: median_ms tokens peak_mib
"""
import os
import sys
import tempfile
import warnings

import torch
import transformers

from measure import report

BATCH, TIME = 32, 64
threads, seconds, mode = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
torch.set_num_threads(threads)
torch.manual_seed(0)
transformers.logging.set_verbosity_error()
warnings.simplefilter("ignore")

config = transformers.BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
                                 intermediate_size=1536)
if mode == "onnx":
    # The exporter does not know the mask of fused attention; ONNX Runtime fuses by itself.
    config._attn_implementation = "eager"
model = transformers.BertModel(config, add_pooling_layer=False).eval()
tokens = torch.randint(config.vocab_size, (BATCH, TIME))
seen = torch.ones_like(tokens)


def torch_step():
    with torch.inference_mode():
        model(input_ids=tokens, attention_mask=seen).last_hidden_state


class States(torch.nn.Module):
    """With positional arguments and one result, as the exporter traces it."""

    def __init__(self):
        super().__init__()
        self.model = model

    def forward(self, tokens, seen):
        return self.model(input_ids=tokens, attention_mask=seen, return_dict=False)[0]


def onnx_session():
    import onnxruntime
    from onnxruntime.transformers import optimizer
    with tempfile.TemporaryDirectory() as folder:
        path, fused = os.path.join(folder, "bert.onnx"), os.path.join(folder, "fused.onnx")
        torch.onnx.export(States().eval(), (tokens, seen), path, dynamo=False, opset_version=17,
                          input_names=["input_ids", "attention_mask"], output_names=["states"])
        optimizer.optimize_model(path, "bert", num_heads=12, hidden_size=384,
                                 opt_level=2).save_model_to_file(fused)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        return onnxruntime.InferenceSession(fused, options, providers=["CPUExecutionProvider"])


if mode == "onnx":
    session = onnx_session()
    inputs = {"input_ids": tokens.numpy(), "attention_mask": seen.numpy()}
    with torch.inference_mode():
        expected = model(input_ids=tokens, attention_mask=seen).last_hidden_state
    difference = (torch.from_numpy(session.run(None, inputs)[0]) - expected).abs().max().item()
    assert difference < 1e-3, difference
    report(lambda: session.run(None, inputs), BATCH * TIME, seconds)
else:
    report(torch_step, BATCH * TIME, seconds)
