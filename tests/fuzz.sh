#!/usr/bin/env bash
# fuzz.sh [SECONDS]: loads weights from random HDF5 files, and then reads random files of models of
# Hugging Face (safetensors, config.json, tokenizer.json, chat templates), each for SECONDS (1800),
# changed from small files of every format and layout, under the address and undefined-behaviour
# sanitizers, with limits on the memory of an allocation (64 MiB) and on the time of a file (10 s).
# New inputs stay in build/fuzz/corpus…; one that fails is in build/fuzz/.
seconds=${1:-1800}
source "$(dirname -- "${BASH_SOURCE[0]}")/sanitizers.sh"

install_packages "${build_packages[@]}" catch2
use_clang
build=$build/fuzz
cmake_options=(-DWEFT_FUZZ=ON -DWEFT_EXAMPLES=OFF -DWEFT_INSTALL=OFF -DWEFT_ONEDNN=OFF)
build_targets fuzz_load_weights fuzz_read_models fuzz_write_seeds

golden=$repository/tests/golden
mkdir -p "$build"/{corpus,seeds,corpus_models,seeds_models,tokenizers}
"$build/tests/fuzz_write_seeds" "$build/seeds"
find "$golden" -name '*.h5' -size -80k | while read -r file; do
  cp -- "$file" "$build/seeds/$(md5sum <"$file" | cut -c1-16)"
done
# The first byte of a seed says what the others are.
seed_models() {
  local kind=$1 file
  shift
  for file in "$@"; do
    { printf '%s' "$kind" && cat -- "$file"; } \
      >"$build/seeds_models/$kind$(md5sum <"$file" | cut -c1-16)"
  done
}
mapfile -t safetensors < <(find "$golden" -name '*.safetensors')
seed_models s "${safetensors[@]}"
seed_models c "$golden"/language_models/*/config.json
for file in "$golden"/tokenizers/*.json; do
  # The file has the text of a tokenizer.json in its first entry, on a line of its own.
  sed -n '2s/^"tokenizer": "\(.*\)",$/\1/p' "$file" | sed 's/\\"/"/g; s/\\\\/\\/g' \
    >"$build/tokenizers/$(basename "$file")"
done
seed_models t "$build"/tokenizers/*.json
sed -n 's/^  "[a-z_]*": "\(.*\)",\{0,1\}$/\1/p' "$golden/chat_templates.json" | head -n 8 |
  sed 's/\\"/"/g' | split -l 1 - "$build/template-"
seed_models j "$build"/template-*
export WEFT_TOKENIZERS=$build/tokenizers
cd "$build"
# The library of HDF5 keeps memory of its own, which is no leak.
export ASAN_OPTIONS=detect_leaks=0:malloc_context_size=1 OMP_NUM_THREADS=1

fuzz() {
  local target=$1 corpus=$2 seeds=$3
  log "Fuzzing fuzz_$target for $seconds seconds, from $(ls "$seeds" | wc -l) files"
  "$build/tests/fuzz_$target" -fork="$(nproc)" -max_total_time="$seconds" -max_len=80000 \
    -timeout=10 -malloc_limit_mb=64 -rss_limit_mb=2048 -entropic=0 "$corpus" "$seeds" \
    >"$build/fuzz_$target.log" 2>&1 || {
    grep -E "ERROR|SUMMARY|Test unit written" "$build/fuzz_$target.log" ||
      tail -n 20 "$build/fuzz_$target.log"
    fail "a file did something undefined: see $build/fuzz_$target.log"
  }
  grep oom/timeout/crash "$build/fuzz_$target.log" | tail -n 1
}
fuzz load_weights corpus seeds
fuzz read_models corpus_models seeds_models
