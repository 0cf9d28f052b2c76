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
  { grep -rlx "NOT CAUGHT" "$results" || true; } | xargs -r rm
fi
mkdir -p "$results"
mv "$work/files.new" "$work/files"

# Runs a test program, or only the named tests, up to the first failure, with the mistake of this
# number. A mistake that makes a program hang counts as caught.
declare -A seconds_allowed # time limit for each program; 600 if not set
run_tests() { # PROGRAM NUMBER [TESTS]
  local folder=$work/outputs/$2
  local -a command=("$work/build/tests/weft_tests_$1")
  [ "$1" != processes ] || command=(mpiexec -n 3 "${command[@]}")
  mkdir -p "$folder"
  WEFT_MISTAKE=$2 TMPDIR=$folder timeout "${seconds_allowed[$1]:-600}" "${command[@]}" \
    ${3:+"$3"} --filenames-as-tags --abort </dev/null >"$folder/$1" 2>&1 # mpiexec would read the list
}

log "Running the tests without a mistake"
for program in "${programs[@]}"; do
  [ "$results/seconds" -nt "$work/build/tests/weft_tests_$program" ] || rm -f "$results/seconds"
done
if [ ! -f "$results/seconds" ]; then
  for program in "${programs[@]}"; do
    SECONDS=0
    run_tests "$program" 0 || fail "$program: fails without a mistake: see $work/outputs/0/$program"
    echo "$program $SECONDS"
  done >"$results/seconds.new"
  mv "$results/seconds.new" "$results/seconds"
fi
while read -r program seconds; do
  seconds_allowed[$program]=$((60 + 3 * seconds))
done <"$results/seconds"

# Prints the tests in the files that match a pattern: "[#first_test],[#second_test]".
tests_of() { # PATTERN
  local file named=
  for file in $(compgen -G "$repository/tests/$1"); do named+=",[#$(basename "$file" .cpp)]"; done
  echo "${named#,}"
}

# Prints the test programs to run, each with its tests (none: all tests). The order is: the tests of
# several processes if the mistake concerns them, the tests in the file of the same name, the tests in
# the same folder (or the nearest folder above that has tests), and all other tests. Tests of components
# that do not use the file are left out.
stages() { # FILE DESCRIPTION
  local name folder room=${1%%/*} same_name same_folder program
  name=$(basename "${1%.*}")
  folder=$(dirname "${1/\/internal\///}")
  same_name=$(tests_of "$folder/${name}_test.cpp")
  while ! compgen -G "$repository/tests/$folder/*_test.cpp" >/dev/null && [[ $folder = */* ]]; do
    folder=${folder%/*}
  done
  same_folder=$(tests_of "$folder/*_test.cpp")
  [[ $2 != processes:* ]] || echo processes
  echo "${same_name:+$room $same_name}"
  echo "${same_folder:+$room $same_folder}"
  case $1 in
    autograd/*) printf '%s\n' autograd golden layers train processes ;;
    layers/*) printf '%s\n' layers golden train processes ;;
    train/parallel/*) printf '%s\n' processes train golden ;;
    *) printf '%s\n' golden train processes ;;
  esac
}

# Prints "caught" with the test that failed, or "NOT CAUGHT".
try() { # NUMBER FILE DESCRIPTION
  local program tests result output
  while read -r program tests; do
    [ -n "$program" ] || continue
    result=0
    run_tests "$program" "$1" "$tests" || result=$?
    output=$work/outputs/$1/$program
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
    rm -rf "$work/outputs/$1"
    return
  done < <(stages "$2" "$3")
  echo "NOT CAUGHT"
}

# Prints one line of the table.
report() { # NUMBER KIND FILE DESCRIPTION
  if [ ! -f "$results/$1" ]; then
    try "$1" "$3" "$4" >"$results/$1.new"
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
