#!/usr/bin/env bash
# sanitize.sh [CTEST OPTIONS]: builds everything once more, into build/sanitize, with the address
# and undefined-behaviour sanitizers, and runs all tests with them but one: where more memory is
# asked for than there is, the sanitizer ends the program instead of throwing.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
build=$build/sanitize

install_packages g++ cmake ninja-build libeigen3-dev libhdf5-dev libxxhash-dev libcxxopts-dev catch2
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export CXXFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1"
export LDFLAGS="-fsanitize=address,undefined"
build_targets all
say "Running the tests"
ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" \
  --exclude-regex "more memory than there is" "$@" ||
  stop "some tests failed (see above)"
