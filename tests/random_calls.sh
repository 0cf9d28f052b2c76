#!/usr/bin/env bash
# random_calls.sh [SECONDS]: calls random operations, layers and optimizers with random arguments in
# random order for SECONDS (600), under the address and undefined-behaviour sanitizers.
seconds=${1:-600}
source "$(dirname -- "${BASH_SOURCE[0]}")/sanitizers.sh"

use_sanitizers address
jobs=()
build_targets weft_tests_autograd weft_tests_train
log "Random calls, $seconds seconds"
export WEFT_RANDOM_SECONDS=$seconds
for room in autograd train; do
  "$build/tests/weft_tests_$room" "[random]" >"$build/random_$room.log" 2>&1 &
  jobs+=($!)
done
for room in autograd train; do
  wait "${jobs[0]}" || failed=yes
  jobs=("${jobs[@]:1}")
  grep -E "sequences|passed|FAILED|ERROR|runtime error" "$build/random_$room.log" || true
done
[ -z "${failed:-}" ] || fail "a call did something undefined: see $build/random_*.log"
