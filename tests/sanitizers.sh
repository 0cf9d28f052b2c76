# Sourced by scripts of tests/: builds with sanitizers, in folders of their own.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

# Makes cmake use clang, with LLVM's OpenMP.
use_clang() {
  install_packages clang libomp-dev
  # The sanitizers' libraries, in a package of their own since Debian 12.
  local runtime
  runtime=libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev
  ! apt-cache show "$runtime" >/dev/null 2>&1 || install_packages "$runtime"
  export CC=clang CXX=clang++
}

# use_sanitizers address|thread: what is built after this has the address and undefined-behaviour
# sanitizers, or the thread sanitizer, as CMakePresets.json says. That one is clang's, with LLVM's
# OpenMP, whose tool Archer tells the sanitizer how a parallel region synchronizes (GCC's OpenMP does
# not); without oneDNN, which would bring GCC's OpenMP; and with two definitions of the operators that
# tests replace to count allocations, as clang's runtime has them itself.
use_sanitizers() {
  preset=sanitize-$1
  build=$build/$preset
  if [ "$1" = thread ]; then
    use_clang
    export OMP_TOOL_LIBRARIES
    OMP_TOOL_LIBRARIES=$(realpath "$(dirname "$(realpath "$(command -v clang)")")/../lib/libarcher.so")
    [ -f "$OMP_TOOL_LIBRARIES" ] || fail "expected Archer in $OMP_TOOL_LIBRARIES, got no file"
  fi
  install_packages "${build_packages[@]}" catch2 pkg-config
}
