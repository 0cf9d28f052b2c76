#!/usr/bin/env bash
# random_calls.sh [SECONDS]: calls functions with random arguments in random order for SECONDS (600),
# under the address and undefined-behaviour sanitizers. Three programs run at the same time: one calls
# operations; one calls layers, optimizers, caches, searches, training, weights and data sources; and one
# trains and exchanges data in two processes.
seconds=${1:-600}
source "$(dirname -- "${BASH_SOURCE[0]}")/sanitizers.sh"

install_packages "${mpi_packages[@]}"
use_sanitizers address
build_targets weft_tests_autograd weft_tests_train weft_tests_processes

# random COMPONENT [COMMAND...]: runs the random tests of a component, which share the time.
random() {
  local program=$build/tests/weft_tests_$1 log=$build/random_$1.log count
  shift
  # Catch2's version 2 exits with the number of tests.
  count=$({ "$program" --list-tests "[random]" 2>/dev/null || true; } | grep -c "random calls: ")
  WEFT_RANDOM_SECONDS=$((seconds / count)) "$@" "$program" "[random]" >"$log" 2>&1
}
log "Random calls, $seconds seconds"
declare -A jobs
random autograd &
jobs[autograd]=$!
random train &
jobs[train]=$!
# The memory that the MPI library keeps until exit is not a leak. The two processes share the cores.
random processes env ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive \
  timeout $((seconds + 300)) mpiexec -n 2 &
jobs[processes]=$!
for room in autograd train processes; do
  wait "${jobs[$room]}" || failed=yes
  grep -E "sequences|passed|FAILED|ERROR|runtime error" "$build/random_$room.log" ||
    tail -n 20 "$build/random_$room.log"
done
[ -z "${failed:-}" ] || fail "a test failed: see $build/random_*.log"
