#!/usr/bin/env bash
# run.sh [SETTING...]: installs missing packages, builds everything into build/ and runs all tests.
# With settings, builds into the separate folder build/SETTING-SETTING…:
#   debug portable coverage    a preset of CMakePresets.json
#   g++-13 clang-16 …          use this compiler
#   eigen                      build without oneDNN
#   openmpi mpich serial       use this MPI, or none (serial)
#   haswell nehalem            let qemu emulate a processor without AVX-512, or without AVX
#   arm64                      cross-compile, and run the tests with qemu; needs the packages of dpkg
#                              --add-architecture arm64
# For qemu, weft is built for any processor and without the example programs, because qemu would not
# emulate the programs that they start.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

packages=("${build_packages[@]}" catch2 pkg-config)
mpi=("${mpi_packages[@]}")
test_options=()

# emulate PROCESSOR COMMAND: builds for the machine that COMMAND emulates.
emulate() {
  preset=portable mpi=()
  packages+=(qemu-user)
  # These tests start their own program, which would not be emulated.
  test_options=(--exclude-regex "threads: ?OMP_")
  cmake_options+=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$1" -DWEFT_MPI=OFF
    -DCMAKE_CROSSCOMPILING_EMULATOR="$2" -DWEFT_EXAMPLES=OFF -DWEFT_INSTALL=OFF)
}

# Makes cmake use the compilers and packages of arm64.
use_arm64() {
  dpkg --print-foreign-architectures | grep -qx arm64 ||
    fail "dpkg does not know the architecture arm64; please run: dpkg --add-architecture arm64"
  local i
  packages+=(g++-aarch64-linux-gnu)
  for i in "${!packages[@]}"; do
    case ${packages[i]} in
      libeigen3-dev | libcxxopts-dev) ;; # headers only
      lib*-dev | catch2) packages[i]+=:arm64 ;;
    esac
  done
  optional_packages=("${optional_packages[@]/%/:arm64}")
  case ${CXX:-} in
    '') cmake_options+=(-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc
      -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++) ;;
    clang*) cmake_options+=(-DCMAKE_C{,XX}_COMPILER_TARGET=aarch64-linux-gnu) ;;
    *) fail "arm64: expected clang or the default compiler, got $CXX" ;;
  esac
}

for setting in "$@"; do
  case $setting in
    debug | portable | coverage) preset=$setting ;;
    g++-*) packages+=("$setting") && export CC=gcc-${setting#*-} CXX=$setting ;;
    clang-*)
      packages+=("$setting" "libomp-${setting#*-}-dev")
      export CC=$setting CXX=clang++-${setting#*-}
      ;;
    eigen) cmake_options+=(-DWEFT_ONEDNN=OFF) ;;
    serial) mpi=() && cmake_options+=(-DWEFT_MPI=OFF) ;;
    openmpi | mpich)
      [ "$setting" = openmpi ] || mpi=(libmpich-dev mpich)
      cmake_options+=("-DMPI_C_COMPILER=mpicc.$setting" "-DMPIEXEC_EXECUTABLE=/usr/bin/mpiexec.$setting")
      ;;
    haswell) emulate "$(uname -m)" "qemu-x86_64;-cpu;Haswell" ;;
    nehalem) emulate "$(uname -m)" "qemu-x86_64;-cpu;Nehalem" ;;
    arm64) emulate aarch64 qemu-aarch64 ;;
    *) fail "expected a setting listed at the top of tests/run.sh, got '$setting'" ;;
  esac
done
[[ " $* " != *" arm64 "* ]] || use_arm64
[ $# = 0 ] || build+=/$(IFS=- && echo "$*")

install_packages "${packages[@]}" "${mpi[@]}"
build_targets all
run_tests "${test_options[@]}"
