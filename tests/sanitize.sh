#!/usr/bin/env bash
# sanitize.sh [address|thread] [CTEST OPTIONS]: builds everything into build/sanitize-… with the
# address and undefined-behaviour sanitizers (address, the default) or the thread sanitizer, and runs
# all tests except those that a sanitizer does not support: it aborts when an allocation exceeds the
# available memory; the thread sanitizer allocates by operators of its own, and does not know how MPI
# waits; LLVM's OpenMP reads its variables differently. CMakePresets.json names them. The thread
# sanitizer first has to find a race that is there.
source "$(dirname -- "${BASH_SOURCE[0]}")/sanitizers.sh"
sanitizer=address
case ${1:-} in address | thread) sanitizer=$1 && shift ;; esac

use_sanitizers "$sanitizer"
build_targets all
if [ "$sanitizer" = thread ]; then
  log "Looking for the race of a test that has one"
  TSAN_OPTIONS="exitcode=0 ignore_noninstrumented_modules=1" \
    "$build/tests/weft_tests_autograd" "[.race]" 2>&1 |
    grep -A 3 "WARNING: ThreadSanitizer: data race" ||
    fail "the thread sanitizer did not find the race of tests/autograd/parallel_test.cpp"
fi
run_tests "$@"
