#!/usr/bin/env bash
# drift.sh: trains a small model for 200 steps with the instructions of different processors, from the
# same seed, and prints how far the losses and the weights drift apart. Fails if the loss of the last step
# differs by more than 1 %. Takes 20 minutes on two cores. Needs a processor with AVX-512.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
text=/usr/share/common-licenses/GPL-3
grep -qw avx512vl /proc/cpuinfo || { echo "SKIPPED: needs a processor with AVX-512" && exit 0; }
install_packages "${build_packages[@]}" catch2

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
folder=$build/drift
# NAME|LEVEL of instructions of the compiler|INSTRUCTION SET up to which oneDNN goes
runs=("AVX2|x86-64-v3|AVX2"
  "AVX-512|x86-64-v4|AVX512_CORE"
  "AVX-512, AMX in oneDNN|x86-64-v4|ALL"
  "AVX2, double precision|x86-64-v3|AVX2")
for run in "${runs[@]}"; do
  IFS='|' read -r name level instructions <<<"$run"
  build=$folder/$level
  cmake_options=(-DCMAKE_BUILD_TYPE=Release -DWEFT_NATIVE=OFF -DCMAKE_CXX_FLAGS="-march=$level")
  build_targets drift
  log "Training with $name"
  ONEDNN_MAX_CPU_ISA=$instructions "$build/tests/drift" "$name" "$text" "$work/${name// /-}.h5" \
    ${reference:+"$reference"} | tee -a "$work/table"
  reference=${reference:-$work/${name// /-}.h5}
done

log "Relative differences from ${runs[0]%%|*}"
echo "| instructions | loss after 200 steps | step 1 | 10 | 50 | 100 | 200 | weights |"
echo "|---|---|---|---|---|---|---|---|"
cat "$work/table"
awk -F '|' '$8 > 0.01 { exit 1 }' "$work/table" || fail "the losses of step 200 differ by more than 1 %"
