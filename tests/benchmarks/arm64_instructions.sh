#!/usr/bin/env bash
# arm64_instructions.sh [WORKLOAD...]: counts the instructions of one training step (by default of W1, W2
# and W5) on one thread of an emulated arm64 processor, and compares them with those of tests/instructions.txt
# for x86-64 with AVX2. Needs the packages of `tests/run.sh arm64`.
source "$(dirname -- "${BASH_SOURCE[0]}")/../../cmake/build.sh"
workloads=("$@")
[ $# -gt 0 ] || workloads=(W1 W2 W5)
command -v aarch64-linux-gnu-g++ >/dev/null ||
  fail "aarch64-linux-gnu-g++ not found; please run: bash tests/run.sh arm64"
install_packages "${build_packages[@]}" catch2 qemu-user gcc
build+=/arm64-instructions
cmake_options=(-DCMAKE_BUILD_TYPE=Release -DWEFT_NATIVE=OFF -DWEFT_MPI=OFF
  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64
  -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++)
build_targets weft_benchmark
gcc -O2 -shared -fPIC "$repository/tests/benchmarks/count_instructions.c" -o "$build/count.so"

count() { # WORKLOAD STEPS
  OMP_NUM_THREADS=1 qemu-aarch64 -plugin "$build/count.so" "$build/tests/weft_benchmark" \
    repeat "$1" full 1 "$2" 2>&1 >/dev/null | sed -n 's/^instructions: //p'
}
printf '\nmillions of instructions    arm64     AVX2  ratio\n'
for workload in "${workloads[@]}"; do
  avx2=$(sed -n "s/\t$workload\ttotal$//p" "$repository/tests/instructions.txt")
  awk -v name="$workload" -v more="$(count "$workload" 1)" -v less="$(count "$workload" 0)" -v avx2="$avx2" \
    'BEGIN { printf "%-23s %9.1f%9.1f%7.2f\n", name, (more - less) / 1e6, avx2 / 1e6, (more - less) / avx2 }'
done
