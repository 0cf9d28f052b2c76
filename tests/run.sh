#!/usr/bin/env bash
# Installs what is missing, builds everything into build/ and runs all tests.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

install_packages g++ cmake ninja-build libeigen3-dev libhdf5-dev libxxhash-dev libcxxopts-dev catch2
build_targets all
say "Running the tests"
ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" ||
  stop "some tests failed (see above)"
