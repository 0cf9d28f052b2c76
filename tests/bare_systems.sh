# Sourced by platforms.sh and packages.sh: creates bare systems of Debian and Ubuntu in build/platforms/.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
[ "$(id -u)" = 0 ] || fail "expected root, which debootstrap and chroot need"
install_packages debootstrap git
folder=$build/platforms
mkdir -p "$folder"

# Creates $folder/RELEASE, a system with only the required packages.
bootstrap() {
  local -a options=() mirror=(http://deb.debian.org/debian)
  [ ! -d "$folder/$1" ] || return 0
  case $1 in jammy | noble | plucky | questing)
    # debootstrap's script for all Ubuntu releases, including releases newer than debootstrap.
    options=("--components=main,universe") mirror=(http://archive.ubuntu.com/ubuntu gutsy) ;;
  esac
  log "Bootstrapping $1"
  rm -rf -- "$folder/$1.part"
  debootstrap --variant=minbase "${options[@]}" "$1" "$folder/$1.part" "${mirror[@]}" \
    >"$folder/$1.log" 2>&1 || fail "debootstrap failed: $(tail -n 3 "$folder/$1.log")"
  mv -- "$folder/$1.part" "$folder/$1"
}

# Creates $system, a copy of a bare system. The packages that it downloads are kept for later copies.
copy_system() { # RELEASE NAME
  bootstrap "$1"
  system=$folder/$2 packages_loaded=$folder/$1-packages
  rm -rf -- "$system"
  cp -a -- "$folder/$1" "$system"
  mkdir -p "$packages_loaded"
}

# Runs a command in $system, with the mounts that MPI and sudo need. The mounts disappear when the
# command ends.
in_system() { # USER COMMAND
  unshare --mount bash -euc '
    cd "$1"
    mount -t proc proc proc
    mount --bind /sys sys
    mount -t tmpfs tmpfs dev/shm
    mount -t devpts devpts dev/pts
    mount --bind "$2" var/cache/apt/archives
    exec chroot . su - "$3" -c "$4"' in_system "$system" "$packages_loaded" "$@"
}
