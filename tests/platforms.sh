#!/usr/bin/env bash
# platforms.sh [PLATFORM...]: from a clone of HEAD in a bare system, for each
#   RELEASE                    of Debian or Ubuntu (trixie bookworm; also noble and jammy): README's two
#                              commands, examples/run.sh and tests/run.sh, as root and as a user with
#                              sudo; half an hour each on two cores
#   RELEASE/SETTING/SETTING…   tests/run.sh SETTING SETTING… as root: bookworm/clang-16/mpich
# Needs root and a network. The bare systems and the packages stay in build/platforms/, with the logs;
# what has passed with this commit is not run again.
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
    options=("--components=main,universe") mirror=(http://archive.ubuntu.com/ubuntu gutsy) ;;
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

# run PLATFORM USER COMMAND...: the commands in a copy of the bare system, each in its time.
run() {
  local name=${1//\//-}-$2 user=$2 out start command
  local -a minutes=()
  shift 2
  [ ! -f "$folder/$name.passed-$commit" ] || return 0
  out=$folder/$name.log
  log "$release, as $user: output in $out"
  system=$folder/$name packages=$folder/$release-packages
  rm -rf -- "$system"
  cp -a -- "$folder/$release" "$system"
  mkdir -p "$packages"
  : >"$out"
  if [ "$user" != root ]; then
    in_system root "apt-get -qq update && apt-get -qq install --no-install-recommends sudo &&
      useradd --create-home $user && echo '$user ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$user" \
      >"$out" 2>&1 || fail "$release: no user with sudo: $(tail -n 3 "$out")"
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
    for user in root weft; do
      run "$release" $user "bash /tmp/weft/examples/run.sh" "bash /tmp/weft/tests/run.sh"
    done
  else
    settings=${platform#*/} before=
    [[ /$settings/ != */arm64/* ]] || before="dpkg --add-architecture arm64 && apt-get -qq update && "
    run "$platform" root "${before}bash /tmp/weft/tests/run.sh ${settings//\// }"
  fi
done
log "Passed, with commit $commit: time of each command, tests, versions"
for platform in "$@"; do cat "$folder/${platform//\//-}"-{root,weft}".passed-$commit" 2>/dev/null || true; done
