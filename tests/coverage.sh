#!/usr/bin/env bash
# coverage.sh: builds everything into build/coverage with counters, runs all tests, and prints the share
# of the library's lines and branches that the tests run, by folder. Fails if the tests run less than
# 95 % of the lines of a file that coverage.txt does not list with a reason, or if coverage.txt lists
# another file. The branches that gcc adds for exceptions do not count.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
list=$repository/tests/coverage.txt
least=95
build=$build/coverage

install_packages "${build_packages[@]}" catch2 pkg-config gcovr "${mpi_packages[@]}"
export OMP_WAIT_POLICY=passive
# No inlining: gcc does not count inlined functions if their template is instantiated elsewhere.
cmake_options=(-DCMAKE_BUILD_TYPE=None -DWEFT_INSTALL=OFF -DCMAKE_EXE_LINKER_FLAGS=--coverage
  -DCMAKE_CXX_FLAGS="-O1 -fno-inline -w --coverage -fprofile-update=atomic")
programs=(autograd layers golden train processes examples)
build_targets all

log "Running the tests"
find "$build" -name '*.gcda' -delete
run() { "$@" >"$build/output" 2>&1 || {
  cat "$build/output" >&2
  fail "${*: -1}: some tests failed (see above)"
}; }
for program in "${programs[@]}"; do run "$build/tests/weft_tests_$program"; done
for processes in 2 3; do run mpiexec -n "$processes" "$build/tests/weft_tests_processes"; done

log "Counting"
gcovr --root "$repository" -j "$(nproc)" --exclude-throw-branches --exclude-unreachable-branches \
  --filter "$repository/(autograd|layers|train)/" --filter "$build/include/weft/" \
  --json "$build/counts.json" "$build" >"$build/gcovr.log" 2>&1 || {
  cat "$build/gcovr.log" >&2
  fail "gcovr failed (see above)"
}
# gcovr also lists headers below include/, whose counts are added.
sed -i "s|${build#"$repository"/}/include/weft/||g" "$build/counts.json"
gcovr --root "$repository" --add-tracefile "$build/counts.json" --csv "$build/files.csv" \
  >"$build/gcovr.log"
# Columns: file, lines, lines run, share of them, branches, branches taken, …
awk -F, '
  function row(name, a, b, c, d) {
    printf "%-22s %6d lines %6.1f %%  %6d branches %6.1f %%\n", name,
           a, a ? 100 * b / a : 100, c, c ? 100 * d / c : 100
  }
  NR > 1 {
    folder = $1
    sub(/\/[^\/]*$/, "", folder)
    sub(/\/internal$/, "", folder)
    if (!(folder in lines)) folders[++count] = folder
    lines[folder] += $2; run[folder] += $3; branches[folder] += $5; taken[folder] += $6
    all[1] += $2; all[2] += $3; all[3] += $5; all[4] += $6
  }
  END {
    for (i = 1; i <= count; ++i) {
      folder = folders[i]
      row(folder, lines[folder], run[folder], branches[folder], taken[folder])
    }
    row("all", all[1], all[2], all[3], all[4])
  }' "$build/files.csv"

log "Files below $least % of lines"
awk -F, -v least="$least" -v list="$list" '
  BEGIN {
    while ((getline line < list) > 0)
      if (line !~ /^(#|$)/) {
        file = reason = line
        sub(/ .*/, "", file)
        sub(/^[^ ]+ */, "", reason)
        reasons[file] = reason
      }
  }
  NR > 1 && $2 > 0 && 100 * $3 < least * $2 {
    below[$1] = 1
    printf "%-46s %5.1f %%  %s\n", $1, 100 * $3 / $2, $1 in reasons ? reasons[$1] : "NOT LISTED"
    if (!($1 in reasons)) failed = 1
  }
  END {
    for (file in reasons)
      if (!(file in below)) {
        printf "%-46s          listed, but not below\n", file
        failed = 1
      }
    exit failed
  }' "$build/files.csv" ||
  fail "expected tests/coverage.txt to list the files below $least % (see above)"
