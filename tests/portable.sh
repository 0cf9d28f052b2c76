#!/usr/bin/env bash
# portable.sh [CTEST OPTIONS]: builds everything into build/portable-eigen for any x86-64 processor and
# without oneDNN, and runs all tests.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
build=$build/portable-eigen
cmake_options=(-DWEFT_NATIVE=OFF -DWEFT_ONEDNN=OFF)

install_packages "${build_packages[@]}" catch2 pkg-config
build_targets all
log "Running the tests"
ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" "$@" ||
  fail "some tests failed (see above)"
