#!/usr/bin/env bash
# golden.sh: writes the golden files again with the installed PyTorch, transformers, tokenizers and
# Keras, and compares them with the files in the tree. Numbers must agree within 1e-5 in float and 1e-10
# in double; everything else must be equal. Scripts whose packages are missing are named and skipped.
#   PYTHON=python3
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
# The scripts write files to their own folder, and read files of the tests and peers. The modification
# time shows whether a file was written again.
cp -r -- "$repository/tests" "$work/tests"
find "$work/tests/golden" -type f -exec touch --date=@0 {} +

failed=no
export PYTHONHASHSEED=0
for script in "$work"/tests/golden/write_*.py; do
  name=$(basename -- "$script")
  # These scripts write no golden files: tests/losses.sh runs the first, and the second prints.
  case $name in write_losses.py | write_events.py) continue ;; esac
  if (cd "$work/tests/golden" && "$python" "$script") >"$work/log" 2>&1; then
    echo "$name"
  elif missing=$(sed -n "s/^ModuleNotFoundError: No module named '\(.*\)'/\1/p" "$work/log") &&
    [ -n "$missing" ]; then
    echo "SKIPPED: $name needs the Python package $missing"
  else
    tail -n 5 "$work/log" >&2
    echo "FAILED: $name" && failed=yes
  fi
done
log "Comparing"
"$python" "$repository/tests/golden/compare_golden.py" "$repository/tests/golden" \
  "$work/tests/golden" || failed=yes
[ $failed = no ]
