#!/usr/bin/env bash
# files.sh [FOLDER]: saves and loads the weights of a model with 124 million parameters (474 MiB) in
# FOLDER (by default, /dev/shm, in memory), with weft and h5py in turn, and prints rates and peak memory.
# weft loads both its own file, whose checksum it verifies, and h5py's file.
#   ROUNDS=5 SECONDS_EACH=2 THREADS=<processors> PYTHON=python3
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
python=${PYTHON:-python3}
peer=$repository/tests/benchmarks/peers/h5py_files.py

install_packages "${build_packages[@]}" catch2
build_targets weft_benchmark
weft=$build/tests/weft_benchmark

work=$(mktemp -d -p "${1:-/dev/shm}") || fail "cannot write to the folder ${1:-/dev/shm}"
trap 'rm -rf -- "$work"' EXIT
programs=("weft save weft" "weft load weft")
if "$python" -c 'import h5py, torch' 2>/dev/null; then
  programs+=("h5py save h5py" "h5py load h5py" "weft load h5py")
else
  echo "h5py: not measured, $python has no modules h5py and torch"
fi

log "Measuring on $threads threads, $rounds rounds of ${seconds}s each"
for ((round = 0; round < rounds; ++round)); do
  for program in "${programs[@]}"; do
    read -r name command file <<<"$program"
    if [ "$name" = weft ]; then
      "$weft" "$command" "$work/$file.h5" "$threads" "$seconds"
    else
      OMP_NUM_THREADS=$threads "$python" "$peer" "$command" "$work/$file.h5" "$seconds"
    fi >>"$work/$name $command $file"
  done
done
row='%-8s %-8s %-8s %8s %12s %12s\n'
printf "$row" program command 'file of' GB/s peak_MiB model_MiB
for program in "${programs[@]}"; do
  results="$work/$program"
  printf "$row" $program "$(cut -d' ' -f1 "$results" | median)" \
    "$(cut -d' ' -f2 "$results" | median)" "$(cut -d' ' -f3 "$results" | median)"
done
