#!/usr/bin/env bash
# losses.sh [TEXT]: trains nanoGPT's character model for 100 steps in PyTorch and in weft, from the same
# weights and with the same batches, in float and in double, and prints the largest difference of the
# losses. By default, TEXT is /usr/share/common-licenses/GPL-3. Needs Python with torch and h5py.
#   PYTHON=python3
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
text=${1:-/usr/share/common-licenses/GPL-3}
[ -r "$text" ] || fail "cannot read '$text'"

install_packages "${build_packages[@]}" catch2
build_targets weft_tests_golden
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

log "Training in PyTorch"
"${PYTHON:-python3}" "$repository/tests/golden/write_losses.py" "$text" "$work/steps.h5"
log "Training in weft, and comparing"
WEFT_LOSSES=$work/steps.h5 "$build/tests/weft_tests_golden" "[.losses]"
