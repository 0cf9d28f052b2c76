"""Writes models.zip for keras_models_test.cpp: a part of the models that write_models.py
wrote into two folders, by Keras 3 and by Keras 2, and their inputs and outputs.

python3 pack_models.py KERAS_3 KERAS_2
"""

import json
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import h5py

# Refused by weft, or without values.
refused = re.compile("constrained|sparsemax|stacked_cells|channels_first|transpose|noise_shape|_axes|"
                     "group_|rms_|^normalization|_scores|operators|lambda|conv2d|lookup|text_")
# Variants that take the same way through weft as others.
left_out = re.compile("^simplernn_(?!default|sequences|state)|_unroll|_dropouts|_regularized|backwards_state|"
                      "bidirectional_(simplernn|gru_(?!concat))|additive_.*_keras2|^layer_(?!prelu|relu_all)|_one_masked")
# Of Keras 2, what it computes or stores in another way than Keras 3.
keras_2 = re.compile("masked|gru_|hard_sigmoid|model_|multi_head|batch_norm|attention_default|frozen|named|"
                     "bidirectional_lstm|embedding|state|separable")

with tempfile.TemporaryDirectory() as name:
    target = Path(__file__).parent / "models.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive, \
            h5py.File(Path(name) / "values.h5", "w", libver="latest") as values:
        def add(path):
            info = zipfile.ZipInfo(path.name, (1980, 1, 1, 0, 0, 0))
            archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)

        for folder, suffix in ((Path(sys.argv[1]), ".keras"), (Path(sys.argv[2]), ".h5")):
            with h5py.File(folder / "values.h5") as source:
                for case in json.loads((folder / "cases.json").read_text()):
                    case = case["name"]
                    path = folder / (case + suffix)
                    if refused.search(case) or left_out.search(case) or case not in source:
                        continue
                    if suffix == ".h5" and not keras_2.search(case):
                        continue
                    add(path)
                    for key, dataset in source[case].items():
                        # Outputs in double precision are enough, unless scores of -1e9 swallow others.
                        if not (key.startswith("output") and "double0" in source[case]) or "multi_" in case:
                            values[f"{case}/{key}"] = dataset[()]
        values.close()
        add(Path(name) / "values.h5")
    print(target, target.stat().st_size, "bytes")
