#!/usr/bin/env bash
# manual_page.sh PROGRAM SOURCE NAME VERSION: prints the manual page of an installed program, made by
# help2man from the output of --help of the program and of each of its commands. NAME is the name of the
# installed program. The comment at the top of SOURCE describes the program.
set -euo pipefail
program=$1 source=$2 name=$3 version=$4

about=$(sed -n '/^\/\//!q; s/^\/\/ //p' "$source" | tr '\n' ' ' | sed 's/^[a-z0-9_-]*: //; s/[.:] .*//; s/[. ]*$//')
# The options of each command, as they are printed.
sections() {
  local command
  for command in $("$program" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
    printf '[%s %s]\n.nf\n' "$name" "$command"
    "$program" "$command" --help | sed "s/[\\\\]/\\\\e/g; s/^[.']/\\\\\&&/"
    printf '.fi\n'
  done
}
include=$(mktemp)
trap 'rm -f -- "$include"' EXIT
sections >"$include"
options=(--no-info --no-discard-stderr --name="${about:-example program of weft}"
  --version-string="$name $version")
[ ! -s "$include" ] || options+=(--include="$include")
help2man "${options[@]}" "$program" |
  sed "1,/^\.SH NAME/s/^\.TH [A-Z0-9_-]*/.TH ${name^^}/; /^\.SH NAME/{n;s/^[^ ]*/$name/}"
