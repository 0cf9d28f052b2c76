#!/usr/bin/env bash
# instructions.sh [--write] [WORKLOAD...]: counts, with valgrind, the instructions of training steps (W1,
# W2, W5), of generating 32 tokens, of loading weights and of tokenizing text, on one thread. Compares the
# counts with those in tests/instructions.txt, which do not depend on the load of the machine as times do.
# Names the functions that changed most, and fails if a count differs by more than 2 %: then explain the
# change in the commit, and update the file with --write.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
expected=$repository/tests/instructions.txt
write=no
if [ "${1:-}" = --write ]; then write=yes && shift; fi
workloads=("$@")
[ $# -gt 0 ] || workloads=(W1 W2 W5 generation loading tokenizing)
install_packages "${build_packages[@]}" catch2 valgrind

# The counts depend on the compiler, on the libraries, and on the instruction set. Valgrind presents the
# same processor on any machine with AVX2, an Intel Haswell, for which also oneDNN generates its code.
[ -f "$expected" ] || : >"$expected"
versions=$(g++ -dumpfullversion && dpkg-query -W -f '${Version}\n' libc6 libdnnl-dev valgrind)
versions=$(echo $versions)
recorded=$(sed -n 's/^# Versions of g++, libc6, oneDNN and valgrind: //p' "$expected" 2>/dev/null || true)
[ $write = yes ] || [ "$versions" = "$recorded" ] || {
  echo "SKIPPED: the counts are for versions $recorded of g++, libc6, oneDNN and valgrind, not $versions"
  exit 0
}
grep -qw avx2 /proc/cpuinfo || { echo "SKIPPED: the counts are for processors with AVX2" && exit 0; }
build=$build/instructions
cmake_options=(-DCMAKE_BUILD_TYPE=Release -DWEFT_NATIVE=OFF -DCMAKE_CXX_FLAGS=-march=x86-64-v3)
build_targets weft_benchmark

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
# Prints COUNT WORKLOAD FUNCTION, separated by tabs, of one step: first the total, then the functions
# with more than 0.5 %. Functions without a name are those that oneDNN generates.
count() { # WORKLOAD
  valgrind --tool=callgrind --callgrind-out-file="$work/out" --toggle-collect='weft::benchmarks::repeat_step*' \
    "$build/tests/weft_benchmark" repeat "$1" full 1 1 >"$work/log" 2>&1 ||
    fail "$1: valgrind failed: $(tail -n 5 "$work/log")"
  callgrind_annotate --threshold=100 --auto=no --show-percs=no "$work/out" |
    awk -v workload="$1" '
      /^ *[0-9,]+ / {
        count = $1
        gsub(",", "", count)
        sub("^ *[0-9,]+ +", "")
        if (/PROGRAM TOTALS/) { total = count; next }
        sub("^[^ :]*:", "")
        sub(" \\[[^]]*\\]$", "")
        sub("^0x[0-9a-f]+$", "generated code")
        counts[substr($0, 1, 200)] += count
      }
      END {
        printf "%d\t%s\ttotal\n", total, workload
        for (name in counts)
          if (counts[name] > 0.005 * total) printf "%d\t%s\t%s\n", counts[name], workload, name
      }' | LC_ALL=C sort -t "$(printf '\t')" -k 1,1nr -k 3
}

: >"$work/counts"
for workload in "${workloads[@]}"; do
  log "Counting the instructions of $workload"
  count "$workload" >"$work/one"
  awk -F '\t' -v workload="$workload" '
    { (FILENAME == ARGV[1]) ? before[$2, $3] = $1 : after[$2, $3] = $1; names[$3] }
    function change(name) { return after[workload, name] - before[workload, name] }
    END {
      was = before[workload, "total"]
      is = after[workload, "total"]
      printf "%s: %.1f million instructions", workload, is / 1e6
      if (!was) { print ", not yet in instructions.txt"; exit 1 }
      printf ", %+.2f %%\n", 100 * (is / was - 1)
      for (name in names)
        if (name != "total" && ((d = change(name)) > 0.002 * was || d < -0.002 * was))
          printf "  %+.2f %%  %s\n", 100 * d / was, name | "sort -gr"
      exit (is > 1.02 * was || is < 0.98 * was)
    }' "$expected" "$work/one" || changed="${changed:-} $workload"
  cat "$work/one" >>"$work/counts"
done
if [ $write = yes ]; then
  [ $# = 0 ] || fail "--write counts all workloads: expected no names, got $*"
  {
    echo "# Instructions of one step on one thread: count, workload, function (see instructions.sh)."
    echo "# Built for x86-64-v3 (AVX2), and run on the processor that valgrind presents, an Intel Haswell."
    echo "# Versions of g++, libc6, oneDNN and valgrind: $versions"
    cat "$work/counts"
  } >"$expected"
  exit 0
fi
[ -z "${changed:-}" ] || fail "more than 2 % changed in:$changed. If this is intended: instructions.sh --write"
