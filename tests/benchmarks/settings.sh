# Sourced by the scripts in this folder: reads their settings from the environment and checks them.
#   ROUNDS=5 SECONDS_EACH=2 THREADS=<processors>
source "$(dirname -- "${BASH_SOURCE[0]}")/../../cmake/build.sh"
rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-2} threads=${THREADS:-$(nproc)}
[[ $rounds =~ ^[1-9][0-9]{0,2}$ ]] || fail "ROUNDS: expected a number from 1 to 999, got '$rounds'"
[[ $threads =~ ^[1-9][0-9]{0,3}$ ]] || fail "THREADS: expected a number of threads, got '$threads'"
[[ $seconds =~ ^[0-9]*\.?[0-9]+$ ]] || fail "SECONDS_EACH: expected a number of seconds, got '$seconds'"

median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
