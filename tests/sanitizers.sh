# Sourced by scripts in tests/: builds with sanitizers, in separate folders.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

# Makes cmake use clang, with LLVM's OpenMP.
use_clang() {
  install_packages clang libomp-dev
  # The sanitizers' libraries, which are a separate package since Debian 12.
  local runtime
  runtime=libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev
  ! apt-cache show "$runtime" >/dev/null 2>&1 || install_packages "$runtime"
  export CC=clang CXX=clang++
}

# use_sanitizers address|thread: makes later builds use the address and undefined-behaviour sanitizers,
# or the thread sanitizer, with the presets of CMakePresets.json. The thread sanitizer needs clang with
# LLVM's OpenMP, whose tool Archer tells the sanitizer how a parallel region synchronizes; GCC's OpenMP
# does not. oneDNN is left out because it links GCC's OpenMP. Both the tests, which count allocations, and
# clang's runtime define the allocation operators, so the linker must allow two definitions.
use_sanitizers() {
  preset=sanitize-$1
  build=$build/$preset
  if [ "$1" = thread ]; then
    use_clang
    export OMP_TOOL_LIBRARIES
    OMP_TOOL_LIBRARIES=$(realpath "$(dirname "$(realpath "$(command -v clang)")")/../lib/libarcher.so")
    [ -f "$OMP_TOOL_LIBRARIES" ] || fail "cannot find Archer in $OMP_TOOL_LIBRARIES"
  fi
  install_packages "${build_packages[@]}" catch2 pkg-config
}
