# shellcheck shell=bash
# For the checks that build and install a lot, check-deb, check-builds and check-arm64: source it first. It gives
#
#   $work                         an empty folder, removed at the end, however that comes
#   check NAME COMMAND...         the command succeeds; prints "ok - NAME", or "not ok - NAME" with the end of what was said
#   conclude                      the last line, and the exit code
#   alone "$0" "$@"               goes on as a process whose mounts end with it, which only root can; call it first
#   bare_debian                   makes a bare Debian in $root with debootstrap; the mirror is apt's own, or $MIRROR
#   inside COMMAND...             runs a command in it, in a folder /tmp/medley
#   apt WORDS...                  its apt-get

set -euo pipefail
root=
failures=0

alone() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "$(basename "$1"): a chroot is made, which only root can do" >&2
        exit 1
    fi
    [ -z "${MEDLEY_ALONE-}" ] || return 0
    rmdir "$work" # it gets one of its own
    MEDLEY_ALONE=1 exec unshare --mount --pid --fork --kill-child "$@"
}

bare_debian() {
    local suite=bookworm mirror
    root=$work/root
    # shellcheck disable=SC2016 # apt-get's own variable
    mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" |
        head -n 1)}
    PATH=$PATH:/usr/sbin debootstrap --variant=minbase "$suite" "$root" "$mirror" && mount -t proc proc "$root/proc"
}

inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
        sh -c 'mkdir -p /tmp/medley && cd /tmp/medley && exec "$@"' sh "$@"
}

apt() { inside apt-get -qq -y --no-install-recommends "$@"; }

finish() {
    if [ -n "$root" ] && mountpoint -q "$root/proc"; then umount "$root/proc"; fi
    rm -rf --one-file-system "$work"
}
work=$(mktemp -d "${TMPDIR:-/tmp}/medley-check.XXXXXX")
trap finish EXIT
trap 'exit 130' INT TERM

check() {
    local name=$1 start=$SECONDS
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "ok - $name ($((SECONDS - start)) s)"
    else
        echo "not ok - $name"
        tail -n 40 "$work/said" | sed 's/^/    /'
        failures=$((failures + 1))
    fi
}

conclude() {
    if [ "$failures" -gt 0 ]; then
        echo "$(basename "$0"): $failures failed"
        exit 1
    fi
    echo "$(basename "$0"): everything is fine"
}
