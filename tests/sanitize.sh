#!/usr/bin/env bash
# sanitize.sh [CTEST OPTIONS]: builds everything into build/sanitize with the address and
# undefined-behaviour sanitizers and runs all tests except one: when an allocation exceeds the
# available memory, the sanitizer aborts instead of throwing.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
build=$build/sanitize

install_packages "${build_packages[@]}" catch2 pkg-config
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export CXXFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1"
export LDFLAGS="-fsanitize=address,undefined"
build_targets all
log "Running the tests"
ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" \
  --exclude-regex "more memory than there is" "$@" ||
  fail "some tests failed (see above)"
