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
# sanitizers, or the thread sanitizer. That one is clang's, with LLVM's OpenMP, whose tool Archer
# tells the sanitizer how a parallel region synchronizes (GCC's OpenMP does not); and without oneDNN,
# which would bring GCC's OpenMP.
use_sanitizers() {
  local flags link_flags=
  case $1 in
    address) flags="-fsanitize=address,undefined -fno-sanitize-recover=all" ;;
    thread)
      flags="-fsanitize=thread"
      # Of tests that count allocations: clang's runtime has these operators itself.
      link_flags=" -Wl,-z,muldefs"
      use_clang
      export OMP_TOOL_LIBRARIES
      OMP_TOOL_LIBRARIES=$(realpath "$(dirname "$(realpath "$(command -v clang)")")/../lib/libarcher.so")
      [ -f "$OMP_TOOL_LIBRARIES" ] || fail "expected Archer in $OMP_TOOL_LIBRARIES, got no file"
      cmake_options+=(-DWEFT_ONEDNN=OFF)
      ;;
    *) fail "expected address or thread, got $1" ;;
  esac
  build=$build/sanitize-$1
  export CXXFLAGS="$flags -fno-omit-frame-pointer -O1" LDFLAGS="$flags$link_flags"
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1"
  install_packages "${build_packages[@]}" catch2 pkg-config
}
