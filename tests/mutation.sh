#!/usr/bin/env bash
# mutation.sh [WORD...]: plants the mistakes listed in tests/mutation/ one at a time and shows which
# of them the tests catch; with words, only those whose description or file contains one of them.
# Fails when a mistake is not caught, or when the text that it replaces is not found exactly once.
#
# It works on a copy in build/mutation. The mistakes are all compiled into it, each behind a switch
# that the environment variable WEFT_MISTAKE turns on, so that the tests are built once.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
list=$repository/tests/mutation
work=$build/mutation
seconds_allowed=600 # for a program of tests; a mistake that makes one hang is caught

install_packages "${build_packages[@]}" catch2 "${mpi_packages[@]}"

# Copies a file unless the copy is the same, so that only what changed is compiled again.
update() { # FROM TO
  cmp -s "$1" "$2" || { mkdir -p "$(dirname "$2")" && cp "$1" "$2"; }
}

log "Copying the tree to $work/tree, with the mistakes"
rm -rf "$work/planted" "$work/mistakes" "$work/outputs"
mkdir -p "$work/planted" "$work/outputs"
perl "$list/plant.pl" "$repository" "$work/planted" "$list"/*.txt >"$work/mistakes" ||
  fail "the list of mistakes is out of date (see above)"
(cd "$repository" && find CMakeLists.txt LICENSE README.md autograd cmake layers train tests -type f) |
  while read -r file; do
    from=$work/planted/$file
    [ -f "$from" ] || from=$repository/$file
    update "$from" "$work/tree/$file"
  done

# Of a copy made before, when there were other files.
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
  fail "the build failed (see above): each text and its replacement have to be statements that end in ';' or '}', or expressions of one type"

# Runs one program of tests up to the first failure, with the mistake of this number.
run_tests() { # PROGRAM NUMBER
  local folder=$work/outputs/$2
  local -a command=("$work/build/tests/weft_tests_$1")
  [ "$1" != processes ] || command=(mpiexec -n 3 "${command[@]}")
  mkdir -p "$folder"
  WEFT_MISTAKE=$2 TMPDIR=$folder timeout "$seconds_allowed" "${command[@]}" \
    --abort </dev/null >"$folder/$1" 2>&1 # mpiexec would read the list of mistakes
}

log "Running the tests without a mistake"
for program in "${programs[@]}"; do
  run_tests "$program" 0 || fail "$program: fails without a mistake: see $work/outputs/0/$program"
done

# Prints "caught" and by what, or "NOT CAUGHT". The tests of a room above cannot catch a mistake.
try() { # NUMBER FILE
  local program result
  for program in "${programs[@]}"; do
    case $2:$program in
      layers/*:autograd | train/*:autograd | train/*:layers) continue ;;
    esac
    result=0
    run_tests "$program" "$1" || result=$?
    case $result in
      0) continue ;;
      124) echo "caught ($program hangs)" ;;
      12[5-9] | 1[3-9]? | 2??)
        # Catch2 exits with the number of failures, of which there is one with --abort.
        echo "caught ($program ends with $result)"
        ;;
      *) echo "caught ($(grep -m1 -A1 -- '^-----' "$work/outputs/$1/$program" | tail -n 1))" ;;
    esac
    rm -rf "$work/outputs/$1"
    return
  done
  echo "NOT CAUGHT"
}

# Prints one line of the table.
report() { # NUMBER KIND FILE DESCRIPTION
  printf '%-7s %-38s %s: %s\n' "$2" "$3" "$4" "$(try "$1" "$3")" | tee -a "$work/table"
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
