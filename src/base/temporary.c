/* SPDX-License-Identifier: BSD-3-Clause */
/* Names are medley-MACHINE-PROCESS-NUMBER.tmp; they are short, as the target's may be as long as
 * names can be. A file is another process's as long as it is locked (flock), and the lock goes with
 * the process however that ends. Where a file system knows no locks, nothing is removed; nor are
 * files of other machines, whose locks a network may not show. */
#include "base/temporary.h"

#include "base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 64 };

char *md_path_beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char *text = malloc(folder + strlen(name) + 1);
    if (text != NULL) {
        memcpy(text, path, folder);
        memcpy(text + folder, name, strlen(name) + 1);
    }
    return text;
}

/* What all names of this machine begin with. */
static void make_prefix(char prefix[NAME_BYTES])
{
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    snprintf(prefix, NAME_BYTES, "medley-%08x-", (unsigned)md_hash_bytes(host, strlen(host)));
}

/* Locks a new file. False: someone has taken it for a stray before it was locked. */
static bool claim(int descriptor)
{
    struct stat info;
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK; /* no locks here: nobody can take it for a stray */
    return fstat(descriptor, &info) != 0 || info.st_nlink > 0;
}

int md_temporary_open(char **name, const char *target)
{
    enum { MOST_ATTEMPTS = 1000 };
    char prefix[NAME_BYTES];
    make_prefix(prefix);
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        char last[NAME_BYTES + 32];
        snprintf(last, sizeof last, "%s%ld-%d.tmp", prefix, (long)getpid(), attempt);
        char *made = md_path_beside(target, last);
        if (made == NULL)
            return -1;
        /* the permissions that any new file gets; mkstemp's are stricter */
        const int descriptor = open(made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        const int reason = errno;
        if (descriptor >= 0 && claim(descriptor)) {
            *name = made;
            return descriptor;
        }
        free(made);
        if (descriptor >= 0)
            close(descriptor);
        errno = reason;
        if (descriptor < 0 && reason != EEXIST)
            return -1;
    }
    return -1;
}

/* ---- strays ---- */

/* The file that is open and locked is also the one of that name: nobody has renamed it. */
static bool has_name(int descriptor, int folder, const char *name)
{
    struct stat open_file;
    struct stat named;
    return fstat(descriptor, &open_file) == 0 && S_ISREG(open_file.st_mode) &&
           open_file.st_uid == geteuid() &&
           fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           named.st_dev == open_file.st_dev && named.st_ino == open_file.st_ino;
}

static void remove_stray(int folder, const char *name)
{
    const int descriptor =
        openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && has_name(descriptor, folder, name))
        (void)unlinkat(folder, name, 0);
    close(descriptor);
}

void md_temporary_clean(const char *target)
{
    char prefix[NAME_BYTES];
    char *path = md_path_beside(target, ".");
    DIR *folder = path != NULL ? opendir(path) : NULL;
    free(path);
    if (folder == NULL)
        return;
    make_prefix(prefix);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const size_t length = strlen(entry->d_name);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && length > 4 &&
            strcmp(entry->d_name + length - 4, ".tmp") == 0)
            remove_stray(dirfd(folder), entry->d_name);
    }
    closedir(folder);
}
