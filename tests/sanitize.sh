#!/usr/bin/env bash
# sanitize.sh [address|thread] [CTEST OPTIONS]: builds everything into build/sanitize-… with the
# address and undefined-behaviour sanitizers (address, the default) or with the thread sanitizer, and
# runs all tests that the sanitizer supports. CMakePresets.json lists the excluded tests, for these
# reasons: a sanitizer aborts if an allocation exceeds the available memory; the thread sanitizer replaces
# the allocation operators and does not know how MPI waits; LLVM's OpenMP interprets environment variables
# differently. The thread sanitizer must first find the race of a test that has one.
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
