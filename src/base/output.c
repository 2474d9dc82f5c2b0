/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that appear whole or not at all: written under a temporary name in the same folder (so that
 * rename is atomic), forced to disk, then renamed, and the folder forced to disk as well. */
#include "base/output.h"

#include "base/temporary.h"
#include "medley/dataset.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static medley_status fail_writing(const md_output *output, medley_error *error)
{
    const int reason = errno;
    return md_fail_at(error, MEDLEY_FAILED, output->path ? output->path : "standard output", 0,
                      "cannot write: %s%s", strerror(reason ? reason : EIO),
                      reason == ENOSPC ? "; free some space or choose another target" : "");
}

/* Devices, pipes and the like cannot be renamed into place and are written directly; so is all of
 * /dev, where /dev/stdout may well be a link to a regular file; not so the files in /dev/shm. */
static bool is_special(const char *path)
{
    struct stat info;
    return (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0) ||
           (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

/* The file that will be replaced: what symbolic links lead to, be it there or not, so that the
 * links stay. */
static char *final_path(const char *path)
{
    enum { MOST_LINKS = 40, LONGEST = 4096 };
    char *final = md_copy_text(path, strlen(path));
    for (int i = 0; i < MOST_LINKS && final != NULL; i++) {
        char target[LONGEST];
        const ssize_t length = readlink(final, target, sizeof target - 1);
        if (length < 0 || (size_t)length >= sizeof target - 1)
            break;
        target[length] = '\0';
        char *next =
            target[0] == '/' ? md_copy_text(target, (size_t)length) : md_path_beside(final, target);
        free(final);
        final = next;
    }
    return final;
}

/* A file that is there keeps its mode and, where that is allowed, its owner. */
static void keep_mode(int descriptor, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    if (fchown(descriptor, info.st_uid, info.st_gid) != 0)
        errno = 0; /* it is ours then */
    (void)fchmod(descriptor, info.st_mode & 0777);
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyser does not follow cleanup */
/* In a folder such as /tmp, files of others cannot be replaced even if they may be written to. */
static bool is_out_of_reach(const char *path)
{
    MD_OWNED(free) char *folder = md_path_beside(path, ".");
    struct stat file;
    struct stat place;
    const uid_t user = geteuid();
    return folder != NULL && user != 0 && lstat(path, &file) == 0 && stat(folder, &place) == 0 &&
           (place.st_mode & S_ISVTX) && file.st_uid != user && place.st_uid != user;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

/* A new file beside the target, with the mode of the file that is there. */
static FILE *open_temporary(md_output *output)
{
    const int descriptor = md_temporary_open(&output->temporary, output->path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (file == NULL && descriptor >= 0) {
        const int reason = errno;
        unlink(output->temporary);
        close(descriptor);
        free(output->temporary);
        output->temporary = NULL;
        errno = reason;
    }
    if (file != NULL)
        keep_mode(descriptor, output->path);
    return file;
}

/* The name must be one that a file can have: a short temporary one says nothing of it. */
static bool is_too_long(const char *path)
{
    struct stat info;
    return lstat(path, &info) != 0 && errno == ENAMETOOLONG;
}

/* A name that ends in .gz asks for it. False with errno where it cannot be done. */
static bool start_compression(md_output *output, const char *path)
{
    const size_t length = strlen(path);
    if (length <= 3 || strcmp(path + length - 3, ".gz") != 0)
        return true;
    const int descriptor = dup(fileno(output->file));
    if (descriptor < 0)
        return false;
    output->compressed = gzdopen(descriptor, "wb6");
    if (output->compressed != NULL)
        return true;
    close(descriptor);
    errno = ENOMEM;
    return false;
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyser does not follow cleanup */
medley_status md_output_open(md_output *output, const char *path, medley_error *error)
{
    *output = (md_output){0};
    if (strcmp(path, "-") == 0) {
        output->file = stdout;
        return MEDLEY_OK;
    }
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return md_fail_at(error, MEDLEY_FAILED, path, 0,
                          "cannot write: it is a directory; name a file");
    MD_CLEARED(md_output_abandon) md_output opened = {.path = final_path(path)};
    if (opened.path == NULL)
        return md_fail_memory(error, strlen(path));
    const bool special = is_special(path);
    if (!special && is_out_of_reach(opened.path))
        return md_fail_at(error, MEDLEY_FAILED, path, 0,
                          "cannot write: the file is another user's and cannot be replaced in this "
                          "folder; name another");
    if (special) {
        opened.file = fopen(path, "wb");
    } else if (!is_too_long(opened.path)) {
        md_temporary_clean(opened.path);
        opened.file = open_temporary(&opened);
    }
    if (opened.file == NULL || !start_compression(&opened, path))
        return md_fail_at(error, MEDLEY_FAILED, path, 0,
                          "cannot write: %s; check that the folder exists and may be written to",
                          strerror(errno));
    *output = md_take(&opened);
    return MEDLEY_OK;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

medley_status md_output_write(md_output *output, const void *bytes, size_t count,
                              medley_error *error)
{
    errno = 0;
    if (output->compressed != NULL) {
        const char *p = bytes;
        while (count > 0) {
            const unsigned piece = count < 1u << 30 ? (unsigned)count : 1u << 30;
            if (gzwrite(output->compressed, p, piece) != (int)piece)
                return fail_writing(output, error);
            p += piece;
            count -= piece;
        }
        return MEDLEY_OK;
    }
    if (count > 0 && fwrite(bytes, 1, count, output->file) != count)
        return fail_writing(output, error);
    return MEDLEY_OK;
}

medley_status md_output_text(md_output *output, md_text *text, bool is_last, medley_error *error)
{
    enum { PIECE = 1 << 16 };
    MEDLEY_TRY(md_text_check(text, error));
    if (text->length < PIECE && !is_last)
        return MEDLEY_OK;
    const size_t length = text->length;
    /* A mark of the byte order is taken off by readers; in front of one, or of what gzip begins
     * with, there is another. */
    static const char mark[] = "\xef\xbb\xbf";
    const bool misread =
        length >= 3 && (memcmp(text->data, mark, 3) == 0 || memcmp(text->data, "\x1f\x8b", 2) == 0);
    if (!output->has_text && misread)
        MEDLEY_TRY(md_output_write(output, mark, 3, error));
    output->has_text |= length > 0;
    text->length = 0;
    return md_output_write(output, text->data, length, error);
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyser does not follow cleanup */
/* A new name lasts once the folder is on the disk; some file systems have nothing to be done. */
static bool force_folder(const char *path)
{
    MD_OWNED(free) char *folder = md_path_beside(path, ".");
    const int descriptor = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (descriptor < 0)
        return true;
    const bool forced = fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
    const int reason = errno;
    close(descriptor);
    errno = reason;
    return forced;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

/* False with errno where a step fails. A stream is forgotten before it is closed: after a failure
 * it cannot be closed again. A temporary file gets its name before it is closed, as its lock keeps
 * others from removing it; closing it can lose nothing, as it is on the disk already. */
static bool finish(md_output *output)
{
    gzFile compressed = output->compressed;
    FILE *file = output->file;
    errno = 0;
    output->compressed = NULL;
    if ((compressed != NULL && gzclose(compressed) != Z_OK) || fflush(file) != 0)
        return false;
    if (output->path == NULL)
        return true;
    const bool is_temporary = output->temporary != NULL;
    if (is_temporary && (fsync(fileno(file)) != 0 || rename(output->temporary, output->path) != 0))
        return false;
    free(output->temporary);
    output->temporary = NULL;
    output->file = NULL;
    const bool closed = fclose(file) == 0;
    return is_temporary ? force_folder(output->path) : closed;
}

medley_status md_output_commit(md_output *output, medley_error *error)
{
    const medley_status status = finish(output) ? MEDLEY_OK : fail_writing(output, error);
    md_output_abandon(output);
    return status;
}

void md_output_abandon(md_output *output)
{
    if (output->temporary != NULL) /* as long as it is locked: later it may be another's */
        unlink(output->temporary);
    if (output->compressed != NULL)
        gzclose(output->compressed);
    if (output->file != NULL && output->path != NULL)
        fclose(output->file);
    free(output->temporary);
    free(output->path);
    *output = (md_output){0};
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyser does not follow cleanup */
medley_status medley_write_file(const char *path, const void *bytes, size_t size,
                                medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_output_abandon) md_output output = {0};
    MEDLEY_TRY(md_output_open(&output, path != NULL ? path : "-", error));
    MEDLEY_TRY(md_output_write(&output, bytes, size, error));
    return md_output_commit(&output, error);
}

medley_status medley_check_writable(const char *path, medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_output_abandon) md_output output = {0};
    if (path == NULL || strcmp(path, "-") == 0 || is_special(path))
        return MEDLEY_OK; /* opening a pipe would be noticed at its other end */
    return md_output_open(&output, path, error);
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */
