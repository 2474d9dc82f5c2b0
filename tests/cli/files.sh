#!/usr/bin/env bash
# Files that are written are whole or what they were, keep mode, owner's wishes and links, and are forced to disk
# with their folder; files that are read may be cut short at any moment.
source "$(dirname "$0")/lib.sh"
tree=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$MEDLEY_BUILD/CMakeCache.txt")
cd "$work" || exit 1
"$MEDLEY" generate ringnorm --rows 60 --dimension 4 --output data.csv
expect_exit 0 "a model" "$MEDLEY" train --quiet --model m.medley data.csv || exit

# A command that writes a file of each kind; $1: the file.
model() { "$MEDLEY" train --quiet --model "$1" data.csv; }
labels() { "$MEDLEY" predict --quiet --model m.medley --output "$1" data.csv; }
table() { "$MEDLEY" predict --quiet --model m.medley --scores --output "$1" data.csv; }
checkpoint() { "$MEDLEY" train --quiet --model c.medley --method spom --epochs 2 --eta0 1 --checkpoint "$1" data.csv; }
path() { "$MEDLEY" path --quiet --count 40 --output "$1" data.csv; }
tune() { "$MEDLEY" tune --quiet --cv 2 --method spom --epochs 1 --C 0.001..1000:30 --output "$1" data.csv; }
of() { # of KIND: the name of its file
    case $1 in path | tune) echo "$1.csv" ;; *) echo "$1.out" ;; esac
}

# ---- a disk without room: what was there stays ----
for kind in path tune; do
    file=$(of $kind)
    echo 'as it was' >"$file"
    expect_exit 1 "$kind --output on a full disk" bash -c "ulimit -f 1; trap '' XFSZ; $(declare -f $kind); $kind $file"
    check "$kind: the file is what it was" test "$(cat "$file")" = 'as it was'
    expect_exit 0 "$kind --output with room" $kind "$file"
    check "$kind: the table ends where it should" test "$(tail -c 1 "$file" | od -An -c | tr -d ' ')" = '\n'
    check "$kind: and is longer than what had room" test "$(wc -c <"$file")" -gt 1024
done
if [ -e /dev/full ]; then
    ln -s /dev/full full.csv # their tables are known by the end of their names
    for kind in path tune; do
        expect_exit 1 "$kind --output /dev/full" $kind full.csv
        expect_text "$kind: says so" 'space' "$err"
    done
else
    skip "tables on a full disk" "/dev/full is not there"
fi
check "nothing half-written is left" bash -c '! ls | grep -E "\.part$|\.tmp$"'

# ---- modes and links ----
for kind in model labels table checkpoint path tune; do
    file=$(of $kind)
    rm -f "$file"
    check "$kind: writes a file" $kind "$file"
    chmod 640 "$file"
    check "$kind: writes it again" $kind "$file"
    check "$kind: the file keeps its mode" test "$(stat -c %a "$file")" = 640
    rm -f "$file" "target.$file"
    ln -s "target.$file" "$file"
    check "$kind: writes through a link to nothing" $kind "$file"
    check "$kind: the link stays" test -L "$file" -a -s "target.$file"
done

# ---- names and folders that stand in the way are found before training, not after it ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && sticky=$(mktemp -d /tmp/medley-sticky-XXXXXX); then
    echo 'of another' >"$sticky/model"
    cp data.csv "$sticky"
    chmod 666 "$sticky/model"
    chmod 1777 "$sticky"
    cp "$(readlink -f "$MEDLEY")" "$sticky/medley"
    other() { (cd "$sticky" && setpriv --reuid=65534 --regid=65534 --clear-groups env LD_LIBRARY_PATH="$MEDLEY_BUILD" "$@"); }
    if other ./medley --version >/dev/null 2>&1; then
        expect_exit 1 "a file of another user in a sticky folder" other ./medley train --model model data.csv
        expect_text "is refused" 'model.*another user' "$err"
        refute_text "before anything is learnt" 'training|wrote|certified' "$err"
        expect_exit 0 "another name will do" other ./medley train --quiet --model free data.csv
    else
        skip "files of another user in a sticky folder" "another user cannot run this build"
    fi
    rm -r "$sticky"
else
    skip "files of another user in a sticky folder" "only root can be another user, with setpriv"
fi

# ---- what the system is asked for ----
cat >shim.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void note(const char *what)
{
    const char *path = getenv("SHIM_LOG");
    const int log = path == NULL ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (log >= 0) {
        if (write(log, what, strlen(what)) < 0)
            abort();
        close(log);
    }
}

int fsync(int descriptor)
{
    struct stat info;
    note(fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode) ? "folder\n" : "file\n");
    return 0;
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    note("rename\n");
    return real(from, to);
}

/* Cuts the file short that the variable names, as soon as something of it has been seen. */
static void cut(int descriptor)
{
    struct stat seen, wanted;
    const char *path = getenv("SHIM_CUT");
    if (path != NULL && stat(path, &wanted) == 0 && fstat(descriptor, &seen) == 0 &&
        seen.st_ino == wanted.st_ino && seen.st_dev == wanted.st_dev && truncate(path, 0) == 0)
        note("cut\n");
}

void *mmap(void *at, size_t length, int protection, int flags, int descriptor, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t) =
        (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    void *place = real(at, length, protection, flags, descriptor, offset);
    if (descriptor >= 0)
        cut(descriptor);
    return place;
}

ssize_t read(int descriptor, void *bytes, size_t count)
{
    ssize_t (*real)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    const ssize_t got = real(descriptor, bytes, count < 512 ? count : 512);
    cut(descriptor);
    return got;
}
C
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "what the system is asked for" "sanitizers ask for it, too"
elif ! "${CC:-cc}" -shared -fPIC -o shim.so shim.c -ldl 2>"$err"; then
    skip "what the system is asked for" "there is no compiler"
else
    watched() { rm -f shim.log && LD_PRELOAD=$work/shim.so SHIM_LOG=$work/shim.log "$@"; }
    for kind in model labels table checkpoint path tune; do
        rm -f "$(of $kind)"
        check "$kind: writes while watched" eval "watched $kind $(of $kind)"
        expect_text "$kind: forces the file to disk" '^file$' shim.log
        check "$kind: and the folder after every renaming" awk '
            $1 == "rename" { open = 1; seen = 1 } $1 == "folder" { open = 0 } END { exit open || !seen }' shim.log
    done
    for command in "predict --model cut.medley data.csv" "eval --model cut.medley data.csv" "inspect cut.medley"; do
        cp m.medley cut.medley
        # shellcheck disable=SC2086
        SHIM_CUT=$work/cut.medley watched "$MEDLEY" $command >"$out" 2>"$err"
        status=$?
        expect_text "${command%% *}: a model is cut short while it is read" cut shim.log
        check "${command%% *}: which is an error, not the end of the program" test $status -eq 3
    done
fi

# ---- the other build ----
if [[ $MEDLEY_BUILD == *asan* ]] || ! command -v make >/dev/null; then
    skip "the preset debug" "once is enough, with make"
else
    check "cmake --preset debug" cmake -S "$tree" --preset debug -B debug -G "Unix Makefiles"
    for file in "$tree"/src/packed/*.c; do # where gcc had objections
        object=src/packed/$(basename "$file" .c).o
        make -C debug "$object" >"$out" 2>"$err" || failed "$object is compiled with the preset debug"
    done
    check "sources are compiled without objections" test ! -s "$err" -a -s "$out"
fi
