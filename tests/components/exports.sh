#!/usr/bin/env bash
# exports.sh USER LIBRARY...: fails if the static library USER calls functions of the static libraries
# LIBRARY that these, built as shared libraries, would not export (see WEFT_API).
set -euo pipefail
export LC_ALL=C
user=$1
shift
symbols() { readelf --symbols --wide "$@"; } # columns: …, visibility, section, name
called=$(symbols "$user" | awk '$7 == "UND" { print $8 }' | sort -u)
hidden=$(symbols "$@" | awk '$7 != "UND" && $6 == "HIDDEN" { print $8 }' | sort -u)
missing=$(comm -12 <(echo "$called") <(echo "$hidden") | c++filt)
if [ -z "$called" ] || [ -z "$hidden" ]; then missing="nothing was found in the libraries"; fi
[ -z "${missing//[[:space:]]/}" ] || {
  printf '%s calls functions without WEFT_API:\n%s\n' "$user" "$missing"
  exit 1
}
