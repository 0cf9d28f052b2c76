#!/usr/bin/env bash
# fuzz.sh [SECONDS]: reads random files for SECONDS (1800), with three fuzz targets at the same time:
#   fuzz_load_weights    weights in HDF5 files
#   fuzz_read_models     Hugging Face models: safetensors and their index, config.json,
#                        generation_config.json, adapters, tokenizer.json, tokenizer_config.json, chat
#                        templates; Keras models and their configurations
#   fuzz_read_files      CSV, vocabularies and merges, checkpoints to resume from, metrics.csv, run.json
# The random files are variations of small files of every format and layout. The targets run under the
# address and undefined-behaviour sanitizers, with limits on an allocation (64 MiB) and on the time for
# a file (10 s). New inputs are kept in build/fuzz/corpus. An input that fails is in build/fuzz/.
seconds=${1:-1800}
source "$(dirname -- "${BASH_SOURCE[0]}")/sanitizers.sh"

install_packages "${build_packages[@]}" catch2 unzip
use_clang
build=$build/fuzz
targets=(load_weights read_models read_files)
cmake_options=(-DWEFT_FUZZ=ON -DWEFT_EXAMPLES=OFF -DWEFT_INSTALL=OFF -DWEFT_ONEDNN=OFF)
build_targets "${targets[@]/#/fuzz_}" fuzz_write_seeds

cd "$build"
source "$repository/tests/fuzz/seeds.sh"

# The memory that the HDF5 library keeps until exit is not a leak.
export ASAN_OPTIONS=detect_leaks=0:malloc_context_size=1 OMP_NUM_THREADS=1
# The targets write inputs to files, in memory if there is a file system for it.
TMPDIR=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
export TMPDIR
trap 'rm -rf -- "$TMPDIR"' EXIT

# Runs a target and writes its findings to fuzz_TARGET.log.
fuzz() {
  "tests/fuzz_$1" -fork=1 -dict="$repository/tests/fuzz/$1.dict" \
    -max_total_time="$seconds" -max_len=80000 -timeout=10 -malloc_limit_mb=64 -rss_limit_mb=2048 \
    -entropic=0 "corpus/$1" "seeds/$1" >"fuzz_$1.log" 2>&1
}
log "Fuzzing for $seconds seconds"
declare -A jobs
for target in "${targets[@]}"; do
  mkdir -p "corpus/$target"
  echo "fuzz_$target, from $(ls "seeds/$target" | wc -l) files"
  fuzz "$target" &
  jobs[$target]=$!
done
for target in "${targets[@]}"; do
  log "fuzz_$target"
  wait "${jobs[$target]}" || {
    grep -E "ERROR|SUMMARY|Test unit written" "fuzz_$target.log" || tail -n 20 "fuzz_$target.log"
    failed=yes
  }
  grep oom/timeout/crash "fuzz_$target.log" | tail -n 1
done
[ -z "${failed:-}" ] || fail "a target failed: see $build/fuzz_*.log"
