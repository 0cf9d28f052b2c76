#!/usr/bin/env bash
# templates.sh: compares the interpreter of chat templates with jinja2 as configured by transformers, on
# generated templates and on templates like those of known models (tests/templates/). Fails if a template
# renders differently, or if weft renders a template that jinja2 refuses. Needs Python with transformers
# and jinja2. If a package is missing, prints SKIPPED and compares nothing.
#   COUNT=8000 SEED=1 PYTHON=python3
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
python=${PYTHON:-python3}

"$python" -c 'import jinja2, transformers' 2>/dev/null || {
  echo "SKIPPED: $python has no packages transformers and jinja2; please install: pip install transformers jinja2"
  exit 0
}
install_packages "${build_packages[@]}" catch2
build_targets render_templates
log "Comparing with transformers"
HF_HUB_OFFLINE=1 "$python" "$repository/tests/templates/compare.py" "$build/tests/render_templates" \
  "${COUNT:-8000}" "${SEED:-1}"
