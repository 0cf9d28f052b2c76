#!/usr/bin/env bash
# faults.sh [KILLS]: makes each system call of a save fail in every possible way, fills the disk during
# training, and kills training KILLS (200) times, half of them during a save. Checks that no checkpoint
# is lost, and that the resumed training ends with the same bytes.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
kills=${1:-200}

install_packages "${build_packages[@]}" catch2
build_targets faults failing_calls

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
faults=$build/tests/faults
preload=$build/tests/libfailing_calls.so
steps=300
train() { exec "$faults" train "$work/$1" "$steps"; }

log "Failing calls"
mkdir "$work/save"
LD_PRELOAD=$preload "$faults" save "$work/save" || fail "a failing call lost a checkpoint (see above)"

train_uninterrupted() {
  log "Training $steps steps without interruption"
  rm -rf "$work/uninterrupted"
  (train uninterrupted)
}
train_uninterrupted

in_background() {
  if [ "$1" = yes ]; then export WEFT_IN_BACKGROUND=yes; else unset WEFT_IN_BACKGROUND; fi
}

check() {
  cmp "$work/uninterrupted/last.h5" "$work/$1/last.h5" || fail "$1: the final checkpoint differs"
}

log "Filling the disk during training"
for background in no yes; do
  in_background $background
  ends=0
  for call in 5 20 37 100 333 1000; do
    rm -rf "$work/full"
    if (LD_PRELOAD=$preload WEFT_FAILING_CALL=$call WEFT_FAILURE=28 train full) 2>"$work/error"; then
      fail "expected training to fail on the full disk, but it succeeded"
    fi
    [ "$(wc -l <"$work/error")" = 1 ] && grep -q "No space left" "$work/error" ||
      fail "expected one line with \"No space left\", got $(cat "$work/error")"
    (train full) || fail "training did not resume after the full disk"
    check full
    ends=$((ends + 1))
  done
  echo "$ends trainings stopped with \"$(tail -c 120 "$work/error" | tr -d '\n')\", and resumed" \
    "to the same checkpoint (in the background: $background)"
done

# Kills training after a few steps each time.
steps=$((20 * kills))
train_uninterrupted
for background in no yes; do
  in_background $background
  log "$((kills / 2)) kills, every second one during a save (in the background: $background)"
  in_a_save=0 last=0
  rm -rf "$work/killed"
  for ((kill = 1; kill <= kills / 2; ++kill)); do
    if ((kill % 2)); then
      # At one of the system calls of a save; each step makes about ten of them.
      (LD_PRELOAD=$preload WEFT_FAILING_CALL=$((RANDOM % 60 + 1)) WEFT_FAILURE=-2 train killed) \
        2>/dev/null && fail "the training ended before kill $kill"
      in_a_save=$((in_a_save + 1))
    else
      (train killed) &
      sleep "0.0$((RANDOM % 9 + 1))"
      kill -KILL $! 2>/dev/null || fail "the training ended before kill $kill"
      wait $! 2>/dev/null || true
    fi
    [ -e "$work/killed/last.h5" ] || { [ $last = 0 ] && continue || fail "last.h5 is gone"; }
    step=$("$faults" load "$work/killed") || fail "kill $kill lost the checkpoint"
    [ "$step" -ge $last ] || fail "kill $kill lost steps: $step after $last"
    last=$step
  done
  (train killed)
  check killed
  echo "$((kills / 2)) kills, $in_a_save of them at a call of a save, the last at step $last of" \
    "$steps: none lost a checkpoint, and the training ended with the same bytes"
done 2> >(grep -v Killed >&2)
