#!/usr/bin/env bash
# platforms.sh [RELEASE...]: runs README's two commands, examples/run.sh and tests/run.sh, from a
# clone of HEAD in a bare system of each RELEASE of Debian or Ubuntu (trixie bookworm; also noble and
# jammy), as root and as a user with sudo, half an hour each on two cores. Needs root and a network.
# The bare systems and the packages stay in build/platforms/, with the logs; what has passed with
# this commit is not run again.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
[ $# -gt 0 ] || set -- trixie bookworm
[ "$(id -u)" = 0 ] || fail "expected root, which debootstrap and chroot need"
install_packages debootstrap git
folder=$build/platforms
commit=$(git -C "$repository" rev-parse --short HEAD)
mkdir -p "$folder"

# Makes $folder/RELEASE, a system of the required packages only.
bootstrap() {
  local -a options=() mirror=(http://deb.debian.org/debian)
  [ ! -d "$folder/$1" ] || return 0
  case $1 in jammy | noble | plucky | questing)
    # The script that debootstrap has for every Ubuntu, also for those that are newer than itself.
    options=(--components=main,universe) mirror=(http://archive.ubuntu.com/ubuntu gutsy) ;;
  esac
  log "Bootstrapping $1"
  rm -rf -- "$folder/$1.part"
  debootstrap --variant=minbase "${options[@]}" "$1" "$folder/$1.part" "${mirror[@]}" \
    >"$folder/$1.log" 2>&1 || fail "debootstrap failed: $(tail -n 3 "$folder/$1.log")"
  mv -- "$folder/$1.part" "$folder/$1"
}

# in_system USER COMMAND: logs in to $system, with what MPI and sudo need of a running system. The
# mounts are those of the command, and end with it.
in_system() {
  unshare --mount bash -euc '
    cd "$1"
    mount -t proc proc proc
    mount --bind /sys sys
    mount -t tmpfs tmpfs dev/shm
    mount -t devpts devpts dev/pts
    mount --bind "$2" var/cache/apt/archives
    exec chroot . su - "$3" -c "$4"' in_system "$system" "$packages" "$@"
}

# run_as USER: README's commands in a copy of the bare $release.
run_as() {
  local out=$folder/$release-$1.log start name
  local -a minutes=()
  rm -rf -- "$system"
  cp -a -- "$folder/$release" "$system"
  mkdir -p "$packages"
  if [ "$1" != root ]; then
    in_system root "apt-get -qq update && apt-get -qq install --no-install-recommends sudo &&
      useradd --create-home $1 && echo '$1 ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$1" \
      >"$out" 2>&1 || fail "$release: no user with sudo: $(tail -n 3 "$out")"
  fi
  git clone --quiet -- "$repository" "$system/tmp/weft"
  in_system root "chown -R $1: /tmp/weft"
  for name in examples tests; do
    start=$SECONDS
    in_system "$1" "bash /tmp/weft/$name/run.sh" >>"$out" 2>&1 || {
      tail -n 30 "$out" >&2
      fail "$release, as $1: bash $name/run.sh failed (see above and $out)"
    }
    minutes+=("$(((SECONDS - start + 59) / 60)) min")
  done
  printf "%-9s %-5s %-8s %-8s %-8s %-8s %-9s %-16s %s\n" "$release" "$1" \
    $(in_system root "dpkg-query -W -f '\${Version}\n' catch2 g++ libdnnl-dev libhdf5-dev libopenmpi-dev" |
      sed 's/^[0-9]*://; s/[-+].*//') \
    "${minutes[0]}" "$(sed -n 's/.* tests failed out of //p' "$out") tests, ${minutes[1]}" \
    >"$folder/$release-$1.passed-$commit"
  rm -rf -- "$system"
}

for release in "$@"; do
  bootstrap "$release"
  packages=$folder/$release-packages system=$folder/$release-running
  for user in root weft; do
    [ ! -f "$folder/$release-$user.passed-$commit" ] || continue
    log "$release, as $user: output in $folder/$release-$user.log"
    run_as $user
  done
done
log "Passed, with commit $commit"
echo "release   user  Catch2   g++      oneDNN   HDF5     Open MPI  examples/run.sh  tests/run.sh"
for release in "$@"; do cat "$folder/$release"-{root,weft}".passed-$commit"; done
