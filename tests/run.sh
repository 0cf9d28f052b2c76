#!/usr/bin/env bash
# Installs missing packages, builds everything into build/ and runs all tests.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

install_packages "${build_packages[@]}" catch2 pkg-config "${mpi_packages[@]}"
build_targets all
# Several at a time: waiting threads should sleep.
export OMP_WAIT_POLICY=passive
log "Running the tests"
ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" ||
  fail "some tests failed (see above)"
