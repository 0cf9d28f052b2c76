#!/usr/bin/env bash
# random_calls.sh [SECONDS]: calls random operations, and beside them random layers, optimizers,
# caches, searches, trainings, weights and data sources, with random arguments in random order for
# SECONDS (600); then random trainings and exchanges of two processes, for as long. All under the
# address and undefined-behaviour sanitizers.
seconds=${1:-600}
source "$(dirname -- "${BASH_SOURCE[0]}")/sanitizers.sh"

install_packages "${mpi_packages[@]}"
use_sanitizers address
build_targets weft_tests_autograd weft_tests_train weft_tests_processes

# random ROOM [COMMAND...]: the random tests of a room, which share the time.
random() {
  local program=$build/tests/weft_tests_$1 log=$build/random_$1.log count
  shift
  # Catch2's version 2 exits with the number of tests.
  count=$({ "$program" --list-tests "[random]" 2>/dev/null || true; } | grep -c "random calls: ")
  WEFT_RANDOM_SECONDS=$((seconds / count)) "$@" "$program" "[random]" >"$log" 2>&1
}
log "Random calls, $seconds seconds"
rooms=(autograd train)
jobs=()
for room in "${rooms[@]}"; do
  random "$room" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job" || failed=yes; done

log "Random calls of two processes, $seconds seconds"
# The library of MPI keeps memory of its own, which is no leak; its processes share the cores.
export ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
random processes timeout $((seconds + 300)) mpiexec -n 2 || failed=yes
for room in "${rooms[@]}" processes; do
  grep -E "sequences|passed|FAILED|ERROR|runtime error" "$build/random_$room.log" ||
    tail -n 20 "$build/random_$room.log"
done
[ -z "${failed:-}" ] || fail "a call did something undefined: see $build/random_*.log"
