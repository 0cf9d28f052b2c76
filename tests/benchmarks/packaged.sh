#!/usr/bin/env bash
# packaged.sh: times training steps with the packaged library, in the version for each level of
# processors, and with a build for this machine's processor, in turn. Prints median milliseconds, and the
# median ratios to the native build. Run `bash cmake/package.sh` first.
#   ROUNDS=5 SECONDS_EACH=2 THREADS=<processors> WORKLOADS="W1 W2 W3 W4 W5"
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
read -r -a workloads <<<"${WORKLOADS:-W1 W2 W3 W4 W5}"
packages=$build/packages
levels=(x86-64-v4 x86-64-v3 x86-64)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

dpkg-deb -x "$packages"/libweft0.3_*.deb "$work" || fail "expected packages in $packages; please run cmake/package.sh"
install_packages "${build_packages[@]}" catch2
build_targets weft_benchmark
log "Compiling a program that links the packaged library"
library=$work/usr/lib/$(gcc -print-multiarch)
ln -s libweft.so.0.3 "$library/libweft.so"
cat >"$work/step.cpp" <<'END'
#include <cstdio>
#include <cstdlib>
#include <weft/autograd/parallel.hpp>
#include "tests/benchmarks/measure.hpp"
#include "tests/benchmarks/workloads.hpp"
int main(int, char** argv) {
  weft::set_thread_count(std::atoi(argv[2]));
  const auto workload = weft::benchmarks::make_workload(argv[1], weft::Precision::full);
  std::printf("%.4f\n", 1e3 * weft::benchmarks::median_seconds(std::atof(argv[3]), workload.step));
}
END
g++ -std=c++20 -O2 -o "$work/step" -I"$repository" -I"$packages/x86-64/include" "$work/step.cpp" \
  "$repository"/tests/benchmarks/{workloads,layers}.cpp \
  "$packages"/x86-64/examples/lib{pronounce,common}_parts.a -L"$library" -lweft -fopenmp

# Prints the milliseconds per step.
step() { # native|LEVEL WORKLOAD
  case $1 in
    native) "$build/tests/weft_benchmark" step "$2" full "$threads" "$seconds" | cut -d' ' -f1 ;;
    *) LD_LIBRARY_PATH=$library /lib64/ld-linux-x86-64.so.2 --glibc-hwcaps-mask "$1" "$work/step" \
      "$2" "$threads" "$seconds" ;;
  esac
}

log "Measuring on $threads threads, $rounds rounds of ${seconds}s each"
printf '%-9s %-10s %10s %8s\n' workload library ms ratio
for workload in "${workloads[@]}"; do
  for ((round = 0; round < rounds; ++round)); do
    native=$(step native "$workload")
    echo "$native" >>"$work/$workload native"
    for level in "${levels[@]}"; do
      ms=$(step "$level" "$workload")
      echo "$ms" >>"$work/$workload $level"
      awk "BEGIN { print $ms / $native }" >>"$work/$workload $level ratio"
    done
  done
  echo 1 >"$work/$workload native ratio"
  for name in native "${levels[@]}"; do
    printf '%-9s %-10s %10.3f %8.3f\n' "$workload" "$name" "$(median <"$work/$workload $name")" \
      "$(median <"$work/$workload $name ratio")"
  done
done
