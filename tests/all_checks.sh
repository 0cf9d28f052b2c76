#!/usr/bin/env bash
# all_checks.sh [NAME...]: checks whether this commit may be released. Runs all checks, or the named
# checks, one after another, and writes a table (check, what it shows, result, time, commit) to
# build/checks.md. Exits with 1 unless all checks have passed.
#
# Results are stored in tests/checks.txt. A check that has passed runs again only after a file that it
# depends on has changed, so an interrupted run continues where it stopped. Because checks.txt is
# committed, this works on another machine as well. The output of a check is build/checks/NAME.log.
#   PYTHON=python3, with the packages listed in examples/guide/testing.md, for comparisons with them
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
folder=$build/checks
mkdir -p "$folder"
results=$repository/tests/checks.txt # lines of NAME RESULT SECONDS COMMIT DIGEST
[ -z "$(git -C "$repository" status --porcelain -- . ":!tests/checks.txt")" ] ||
  fail "expected a clean working tree, because the table names its commit (see git status)"
commit=$(git -C "$repository" rev-parse --short HEAD)

# NAME|WHAT IT SHOWS|COMMAND below tests/
checks=(
  "tests|all tests pass, with 1 to 4 processes|run.sh"
  "docs|every public declaration is documented, no link is broken|docs.sh"
  "docs-self-test|the documentation check finds planted mistakes|docs.sh --self-test"
  "lint|clang-tidy, shellcheck and codespell report no warnings|lint.sh"
  "coverage|tests run 95 % of the lines of each file, or the reason is listed|coverage.sh"
  "consumers|weft can be used in every documented way, from outside its tree|consumers/run.sh"
  "conan|a Conan package can be built and used|consumers/run.sh conan"
  "portable|all tests pass when built for any x86-64 processor, without oneDNN|run.sh portable eigen"
  "threads|1, 2 and 3 threads train the same weights, bit for bit|threads.sh"
  "address|no undefined behaviour, no invalid memory access, no leak in all tests|sanitize.sh address"
  "thread|no data race in all tests|sanitize.sh thread"
  "random-calls|sanitizers report nothing in half an hour of random API calls|random_calls.sh 1800"
  "fuzz|random files of weights, models, data and training runs cause no undefined behaviour|fuzz.sh 600"
  "oss-fuzz|the fuzz targets build as OSS-Fuzz builds them, and pass their seeds|fuzz/oss_fuzz.sh"
  "faults|failing calls, a full disk and 200 kills lose no checkpoint|faults.sh"
  "kills|a training run killed 20 times ends with the same weights, bit for bit|kill_and_resume.sh"
  "processes|training with up to 4 processes, killed 20 times, ends with the same weights, bit for bit|processes.sh"
  "golden|golden values written by the installed PyTorch, transformers and Keras equal those of the tree|golden.sh"
  "losses|100 training steps have the same losses as in PyTorch|losses.sh"
  "state-dicts|saved weights load in PyTorch with all names|state_dicts.sh"
  "models|tokens and vectors of a sentence encoder equal those of transformers|models.sh"
  "tokenizers|tokens equal those of Hugging Face's tokenizers|tokenizers.sh"
  "keras-models|models of Keras 2 and 3 run and are saved equally|keras_models.sh"
  "templates|chat templates render as in transformers|templates.sh"
  "configurations|configurations, adapters and sentence encoders have the same meaning as in transformers, PEFT and sentence-transformers, or are refused|configurations.sh"
  "mutation|the tests catch every planted mistake|mutation.sh"
  "instructions|training, generation, loading and tokenizing execute the recorded numbers of instructions|instructions.sh"
  "reproducible|two builds in different folders have the same bytes, libraries and packages|reproducible.sh"
  "drift|trainings with the instructions of different processors reach the same loss within 1 %|drift.sh"
  "packages|Debian packages install on a bare system, build a program, and leave nothing|packages.sh"
  "platforms|the two commands of the README pass on bare systems|platforms.sh"
)

# Prints a check's last result, RESULT SECONDS COMMIT. A passed check is "outdated" if a file that it
# depends on has changed since.
last_result() { # NAME COMMAND
  local result seconds at digest
  read -r _ result seconds at digest <<<"$(grep "^$1 " "$results" || echo "$1 not-run - -")"
  [ "$digest" = "$(digest_of "$1" "$2")" ] || result=${result/passed/outdated}
  echo "$result $seconds $at"
}

# Prints a digest of the files that a check depends on: all files if the check reads them all,
# otherwise the library, the programs, the check's own files, the tests if it runs them, and the files
# of packages if it makes them. Only checks that run all tests or make packages use the programs that
# consist of one file.
digest_of() { # NAME COMMAND
  local -a files=(. ":!*.md" ":!.github" ":!.ci" ":!tests" ":!cmake/package*" ":!cmake/conan"
    ":(exclude,glob)examples/*.cpp")
  local -a own=("tests/$1" "tests/$1.*" "tests/${2%% *}" tests/golden tests/sanitizers.sh
    tests/bare_systems.sh)
  case $1 in
    tests | docs* | lint) files=(. ":!tests/checks.txt") ;;
    coverage | portable | address | thread | mutation | platforms)
      own+=("tests/*.[ch]pp" tests/CMakeLists.txt ":(glob)examples/*.cpp")
      ;;
    random-calls) own+=("tests/*random*" "tests/*.hpp" tests/CMakeLists.txt) ;;
    instructions) own+=(tests/benchmarks) ;;
    drift) own+=(tests/CMakeLists.txt) ;;
    oss-fuzz) own+=(tests/fuzz tests/CMakeLists.txt) ;;
    packages | reproducible) own+=(cmake ":(glob)examples/*.cpp") ;;
    conan) own+=(cmake/conan) ;;
  esac
  {
    git -C "$repository" ls-files --stage -- "${files[@]}"
    git -C "$repository" ls-files --stage -- "${own[@]}"
  } | sha256sum | cut -c 1-16
}

write_table() {
  local check name shows command result seconds at time
  {
    printf '| check | what it shows | command | result | time | commit |\n|---|---|---|---|---|---|\n'
    for check in "${checks[@]}"; do
      IFS='|' read -r name shows command <<<"$check"
      read -r result seconds at <<<"$(last_result "$name" "$command")"
      time=-
      [ "$seconds" = - ] || time=$(printf '%d:%02d min' $((seconds / 60)) $((seconds % 60)))
      printf '| %s | %s | %s | %s | %s | %s |\n' \
        "$name" "$shows" "$command" "$result" "$time" "$at"
    done
  } >"$build/checks.md.new"
  mv "$build/checks.md.new" "$build/checks.md"
}

# Runs one check in a separate shell.
run_check() { # NAME COMMAND
  local start=$SECONDS result=passed digest
  digest=$(digest_of "$1" "$2")
  log "$1: tests/$2"
  # Unquoted, to split the script from its arguments.
  bash "$repository/tests/"$2 >"$folder/$1.log" 2>&1 || result=FAILED
  # A script prints SKIPPED if an optional package is missing.
  if [ $result = passed ] && grep -q '^SKIPPED' "$folder/$1.log"; then result=SKIPPED; fi
  { grep -v "^$1 " "$results" && echo "$1 $result $((SECONDS - start)) $commit $digest"; } |
    LC_ALL=C sort >"$folder/results"
  mv "$folder/results" "$results"
  echo "$result in $((SECONDS - start)) s"
  [ $result = passed ] || tail -n 3 "$folder/$1.log"
}

for name in "$@"; do
  printf '%s\n' "${checks[@]}" | grep -q "^$name|" ||
    fail "expected one of $(printf '%s ' "${checks[@]%%|*}"), got '$name'"
done
all_passed=yes
for check in "${checks[@]}"; do
  IFS='|' read -r name _ command <<<"$check"
  [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
  read -r result _ <<<"$(last_result "$name" "$command")"
  [ "$result" = passed ] || run_check "$name" "$command"
  write_table
  read -r result _ <<<"$(last_result "$name" "$command")"
  [ "$result" = passed ] || all_passed=no
done
log "Results"
cat "$build/checks.md"
[ $all_passed = yes ]
