# shellcheck shell=bash
# For scripts that need a bare Debian, in a chroot that ends with them: source it first. It gives
#
#   alone "$0" "$@"               goes on as a process whose mounts end with it; only root can
#   bare_debian FOLDER            makes one with debootstrap; the mirror is apt's own, or $MIRROR
#   inside COMMAND...             runs a command in it, in an empty folder /tmp/medley
#   apt WORDS...                  its apt-get
#   leave                         before the folder is removed

alone() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "$(basename "$1"): a chroot is made, which only root can do" >&2
        exit 1
    fi
    [ -n "${MEDLEY_ALONE-}" ] || MEDLEY_ALONE=1 exec unshare --mount --pid --fork --kill-child "$@"
}

bare_debian() {
    local suite=bookworm mirror
    bare=$1
    # shellcheck disable=SC2016 # apt-get's own variable
    mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" |
        head -n 1)}
    PATH=$PATH:/usr/sbin debootstrap --variant=minbase "$suite" "$bare" "$mirror" && mount -t proc proc "$bare/proc"
}

inside() {
    chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
        sh -c 'mkdir -p /tmp/medley && cd /tmp/medley && exec "$@"' sh "$@"
}

apt() { inside apt-get -qq -y --no-install-recommends "$@"; }

leave() { [ -z "${bare-}" ] || ! mountpoint -q "$bare/proc" || umount "$bare/proc"; }
