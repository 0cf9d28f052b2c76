#!/usr/bin/env bash
# fuzz.sh [SECONDS]: loads weights from random files for SECONDS (1800), changed from small files of
# every format and layout, under the address and undefined-behaviour sanitizers, with limits on the
# memory of an allocation (64 MiB) and on the time of a file (10 s). New inputs stay in
# build/fuzz/corpus; one that fails is in build/fuzz/.
seconds=${1:-1800}
source "$(dirname -- "${BASH_SOURCE[0]}")/sanitizers.sh"

install_packages "${build_packages[@]}" catch2
use_clang
build=$build/fuzz
cmake_options=(-DWEFT_FUZZ=ON -DWEFT_EXAMPLES=OFF -DWEFT_INSTALL=OFF -DWEFT_ONEDNN=OFF)
build_targets fuzz_load_weights fuzz_write_seeds

mkdir -p "$build/corpus" "$build/seeds"
"$build/tests/fuzz_write_seeds" "$build/seeds"
find "$repository/tests/golden" -name '*.h5' -size -80k -exec cp -t "$build/seeds" {} +
log "Fuzzing for $seconds seconds, from $(ls "$build/seeds" | wc -l) files"
cd "$build"
processes=$(nproc)
# The library of HDF5 keeps memory of its own, which is no leak.
export ASAN_OPTIONS=detect_leaks=0:malloc_context_size=1 OMP_NUM_THREADS=1
"$build/tests/fuzz_load_weights" -fork="$processes" -max_total_time="$seconds" -max_len=80000 \
  -timeout=10 -malloc_limit_mb=64 -rss_limit_mb=2048 -entropic=0 corpus seeds \
  >"$build/fuzz.log" 2>&1 || {
  grep -E "ERROR|SUMMARY|Test unit written" "$build/fuzz.log" || tail -n 20 "$build/fuzz.log"
  fail "a file did something undefined: see $build/fuzz.log"
}
grep oom/timeout/crash "$build/fuzz.log" | tail -n 1
