#!/usr/bin/env bash
# platforms.sh [PLATFORM...]: clones HEAD into a bare system and runs commands there. A PLATFORM is
#   RELEASE                    of Debian or Ubuntu (by default, trixie and bookworm; also noble, jammy):
#                              runs the two commands of the README, examples/run.sh and tests/run.sh, as
#                              a user with sudo; takes twenty minutes on two cores
#   RELEASE/SETTING/SETTING…   such as bookworm/clang-16/mpich: runs tests/run.sh SETTING SETTING… as
#                              root
# Needs root and a network. The bare systems, the packages and the logs are kept in build/platforms/. A
# platform that has passed with this commit is not run again.
source "$(dirname -- "${BASH_SOURCE[0]}")/bare_systems.sh"
[ $# -gt 0 ] || set -- trixie bookworm
commit=$(git -C "$repository" rev-parse --short HEAD)

# run PLATFORM USER COMMAND...: runs the commands in a copy of the bare system, and times each.
run() {
  local name=${1//\//-}-$2 user=$2 out start command
  local -a minutes=()
  shift 2
  [ ! -f "$folder/$name.passed-$commit" ] || return 0
  out=$folder/$name.log
  log "$release, as $user: output in $out"
  copy_system "$release" "$name"
  : >"$out"
  if [ "$user" != root ]; then
    in_system root "apt-get -qq update && apt-get -qq install --no-install-recommends sudo &&
      useradd --create-home $user && echo '$user ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$user" \
      >"$out" 2>&1 || fail "$release: cannot create a user with sudo: $(tail -n 3 "$out")"
  fi
  git clone --quiet -- "$repository" "$system/tmp/weft"
  in_system root "chown -R $user: /tmp/weft"
  for command in "$@"; do
    start=$SECONDS
    in_system "$user" "$command" >>"$out" 2>&1 || {
      tail -n 30 "$out" >&2
      fail "$name: $command failed (see above and $out)"
    }
    minutes+=("$(((SECONDS - start + 59) / 60)) min")
  done
  {
    printf '%-34s %-18s ' "$name" "$(IFS=, && echo "${minutes[*]}")"
    sed -n 's/.* tests failed out of \(.*\)/\1 tests /p' "$out" | tr -d '\n'
    in_system root "dpkg-query -W -f '\${Package} \${Version} \${db:Status-Status}\n'" |
      sed -nE '/ installed$/ s/^(catch2|g\+\+|g\+\+-[0-9]+|clang-[0-9]+|libdnnl-dev|libhdf5-dev|libopenmpi-dev|libmpich-dev|qemu-user) ([0-9]+:)?([0-9.]+).*/\1 \3/p' |
      paste -sd, | sed 's/,/, /g'
  } >"$folder/$name.passed-$commit"
  rm -rf -- "$system"
}

for platform in "$@"; do
  release=${platform%%/*}
  bootstrap "$release"
  if [ "$platform" = "$release" ]; then
    run "$release" weft "bash /tmp/weft/examples/run.sh" "bash /tmp/weft/tests/run.sh"
  else
    settings=${platform#*/} before=
    [[ /$settings/ != */arm64/* ]] || before="dpkg --add-architecture arm64 && apt-get -qq update && "
    run "$platform" root "${before}bash /tmp/weft/tests/run.sh ${settings//\// }"
  fi
done
log "Passed, with commit $commit: time of each command, tests, versions"
for platform in "$@"; do cat "$folder/${platform//\//-}"-{root,weft}".passed-$commit" 2>/dev/null || true; done
