#!/usr/bin/env bash
# mutation.sh [WORD...]: plants the mistakes listed in tests/mutation/ one at a time, and shows which
# mistakes the tests catch. With words, plants only mistakes whose description or file contains one of
# the words. Fails if a mistake is not caught, or if the text to replace is not found exactly once.
#
# The script works on a copy of the tree in build/mutation. All mistakes are compiled into this copy at
# once, and the environment variable WEFT_MISTAKE enables one of them. Results are kept until the library
# or a test changes, so an interrupted run continues where it stopped.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
list=$repository/tests/mutation
work=$build/mutation
# Several test programs run at a time, so waiting threads should sleep.
export OMP_WAIT_POLICY=passive

install_packages "${build_packages[@]}" catch2 "${mpi_packages[@]}"

# Copies a file unless the copy is equal, so that only changed files are compiled again.
update() { # FROM TO
  cmp -s "$1" "$2" || { mkdir -p "$(dirname "$2")" && cp "$1" "$2"; }
}

log "Copying the tree to $work/tree, with the mistakes"
rm -rf "$work/planted" "$work/mistakes" "$work/outputs"
mkdir -p "$work/planted" "$work/outputs"
perl "$list/plant.pl" "$repository" "$work/planted" "$list"/*.txt >"$work/mistakes" ||
  fail "the list of mistakes is out of date (see above)"
(cd "$repository" && find CMakeLists.txt LICENSE README.md autograd cmake examples/guide layers train tests -type f) |
  while read -r file; do
    from=$work/planted/$file
    [ -f "$from" ] || from=$repository/$file
    update "$from" "$work/tree/$file"
  done

# Remove files of an earlier copy that no longer exist.
find "$work/tree" -type f -printf '%P\n' | while read -r file; do
  [ -f "$repository/$file" ] || rm -- "$work/tree/$file"
done

programs=(autograd layers golden train processes)
mkdir -p "$work/build"
cmake -S "$work/tree" -B "$work/build" -G Ninja -DWEFT_TESTS=ON -DWEFT_EXAMPLES=OFF \
  -DWEFT_INSTALL=OFF -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_CXX_FLAGS="-O1 -w -include $work/tree/tests/mutation/switch.hpp" \
  >"$work/configure.log" 2>&1 || {
  cat "$work/configure.log" >&2
  fail "cmake failed (see above)"
}
log "Building $(wc -l <"$work/mistakes") mistakes"
cmake --build "$work/build" --parallel "$(nproc)" --target "${programs[@]/#/weft_tests_}" \
  -- -k 0 ||
  fail "the build failed (see above): each text and its replacement must be statements that end in ';' or '}', or expressions of the same type"

# The files that the tests are built from, without the lists of mistakes. If a file has changed, all
# results are removed. If files were only added, caught mistakes remain caught.
(cd "$repository" && find CMakeLists.txt autograd cmake layers train tests -type f \
  ! -path 'tests/mutation/*.txt' ! -name '*.sh' ! -name '*.md' ! -name checks.txt -print0 |
  LC_ALL=C sort -z | xargs -0 sha256sum) >"$work/files.new"
results=$work/results # one file per mistake, named by its number
if [ ! -f "$work/files" ] || grep -qvxF -f "$work/files.new" "$work/files"; then
  rm -rf "$results"
elif ! cmp -s "$work/files" "$work/files.new"; then
  { grep -rl 'NOT CAUGHT$' "$results" || true; } | xargs -r rm
fi
mkdir -p "$results"
mv "$work/files.new" "$work/files"

# Runs the tests of a program that are named in a file, up to the first failure.
run_tests() { # PROGRAM NAMES OUTPUT SECONDS VARIABLE=VALUE...
  local -a command=("$work/build/tests/weft_tests_$1" --input-file "$2" --abort)
  [ "$1" != processes ] || command=(mpiexec -n 3 "${command[@]:0:1}" --abort)
  env "${@:5}" timeout "$4" "${command[@]}" </dev/null >"$3" 2>&1 # mpiexec would read the names
}

# Runs a test without a mistake, and records which mistakes it reaches. The record reached/PROGRAM.TEST
# consists of a line "MILLISECONDS PROGRAM NAME" and a line for the number of each mistake.
record() { # PROGRAM TEST NAME
  local record=$work/reached/$1.$2 start
  start=$(date +%s%N)
  echo "$3" >"$record.name"
  run_tests "$1" "$record.name" "$record.output" 600 "WEFT_REACHED=$record.numbers" || return 0
  {
    echo "$((($(date +%s%N) - start) / 1000000)) $1 $3"
    od -An -v -w4 -t d4 "$record.numbers" | awk '$1 != 0 { print $1 }'
  } >"$record.new"
  mv "$record.new" "$record"
  rm "$record".{name,output,numbers}
}

log "Running each test without a mistake"
mkdir -p "$work/reached"
for program in "${programs[@]}"; do
  find "$work/reached" -name "$program.*" \
    '(' -name '*.*.*' -o ! -newer "$work/build/tests/weft_tests_$program" ')' -delete
  # The tests of several processes are recorded as one.
  if [ "$program" = processes ]; then echo all; else
    (cd "$work/build" && ctest -N -V) | # escapes the names as --input-file does
      sed -n "s|^[0-9]*: Test command: .*/weft_tests_$program \"\([^\"]*\)\".*|\\1|p"
  fi >"$work/names"
  test=0
  while IFS= read -r name; do
    test=$((test + 1))
    [ ! -f "$work/reached/$program.$test" ] || continue
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    record "$program" $test "$name" &
  done <"$work/names"
  wait
  failed=$(find "$work/reached" -name "$program.*.output" | head -n 1)
  [ -z "$failed" ] || fail "$program: a test fails without a mistake: see $failed"
  echo "$program: $test"
done

# Prints "caught" with the test that failed, or "NOT CAUGHT". Runs the tests that reach the mistake, first
# those that take less than 0.3 seconds. A mistake that makes a program hang counts as caught.
try() { # NUMBER
  local folder=$work/outputs/$1 kind program seconds result output
  mkdir -p "$folder"
  { grep -lxFr -- "$1" "$work/reached" || true; } | xargs -r head -qn 1 >"$folder/reached"
  for kind in quick slow; do
    for program in "${programs[@]}"; do
      awk -v kind=$kind -v program="$program" \
        '$2 == program && ($1 < 300) == (kind == "quick")' "$folder/reached" >"$folder/tests"
      [ -s "$folder/tests" ] || continue
      seconds=$(awk '{ sum += $1 } END { print 60 + int(3 * sum / 1000) }' "$folder/tests")
      sed -i 's/^[^ ]* [^ ]* //' "$folder/tests"
      result=0 output=$folder/output
      run_tests "$program" "$folder/tests" "$output" "$seconds" \
        "WEFT_MISTAKE=$1" "TMPDIR=$folder" || result=$?
      case $result in
        0) continue ;;
        124) echo "caught ($program hangs)" ;;
        12[5-9] | 1[3-9]? | 2??)
          # Catch2 exits with the number of failures, which is 1 with --abort, or with 42.
          echo "caught ($program ends with $result)"
          ;;
        *)
          # The name of the test follows a line of Catch2, which is longer than such lines of mpiexec.
          # The name is coloured if mpiexec gives the process a terminal.
          output=$(sed 's/\x1b\[[0-9;]*m//g' "$output" | grep -m1 -A1 -xE -- '-{79}' | tail -n 1) ||
            true
          echo "caught (${output:-$program ends with $result})"
          ;;
      esac
      rm -rf "$folder"
      return
    done
  done
  echo "reached by $(wc -l <"$folder/reached") tests, NOT CAUGHT"
}

# Prints one line of the table.
report() { # NUMBER KIND FILE DESCRIPTION
  if [ ! -f "$results/$1" ]; then
    try "$1" >"$results/$1.new"
    mv "$results/$1.new" "$results/$1"
  fi
  printf '%-7s %-38s %s: %s\n' "$2" "$3" "$4" "$(cat "$results/$1")" | tee -a "$work/table"
}

: >"$work/table"
log "Running the tests with each mistake"
while IFS=$'\t' read -r number kind file description; do
  if [ $# -gt 0 ]; then
    chosen=false
    for word in "$@"; do [[ $file:$description != *"$word"* ]] || chosen=true; done
    $chosen || continue
  fi
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
  report "$number" "$kind" "$file" "$description" &
done <"$work/mistakes"
wait

count() { grep -c -- "$1" "$work/table" || true; }
log "Not caught"
grep 'NOT CAUGHT$' "$work/table" || echo "none"
printf '\n%d mistakes, %d of them beyond the first range: %d caught, %d not\n' \
  "$(wc -l <"$work/table")" "$(count '^beyond')" \
  "$(($(wc -l <"$work/table") - $(count 'NOT CAUGHT$')))" "$(count 'NOT CAUGHT$')"
[ "$(count 'NOT CAUGHT$')" = 0 ]
