/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that appear whole or not at all: written under a temporary name in the same folder (so that
 * rename is atomic), forced to disk, then renamed. */
#include "base/output.h"

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

/* The file that will be replaced: the target of a symbolic link, so that the link stays. */
static char *final_path(const char *path)
{
    struct stat info;
    char *resolved = NULL;
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        resolved = realpath(path, NULL);
    return resolved != NULL ? resolved : md_copy_text(path, strlen(path));
}

/* A new file beside the target, with the permissions any new file gets (mkstemp's are stricter). */
static FILE *open_temporary(md_output *output)
{
    const size_t size = strlen(output->path) + 32;
    output->temporary = malloc(size);
    if (output->temporary == NULL)
        return NULL;
    int descriptor = -1;
    for (int attempt = 0; attempt < 1000 && descriptor < 0; attempt++) {
        snprintf(output->temporary, size, "%s.%ld-%d.tmp", output->path, (long)getpid(), attempt);
        descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (file == NULL && descriptor >= 0) {
        close(descriptor);
        unlink(output->temporary);
    }
    if (file == NULL) { /* nothing of ours has this name: abandon must not remove it */
        free(output->temporary);
        output->temporary = NULL;
    }
    return file;
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
    opened.file = is_special(path) ? fopen(path, "wb") : open_temporary(&opened);
    if (opened.file == NULL)
        return md_fail_at(error, MEDLEY_FAILED, path, 0,
                          "cannot write: %s; check that the folder exists and may be written to",
                          strerror(errno));
    const size_t length = strlen(path);
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0) {
        opened.compressed = gzdopen(dup(fileno(opened.file)), "wb6");
        if (opened.compressed == NULL)
            return md_fail_memory(error, 1 << 18);
    }
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
    text->length = 0;
    return md_output_write(output, text->data, length, error);
}

/* False with errno where a step fails. A stream is forgotten before it is closed: after a failure
 * it cannot be closed again. */
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
    if (output->temporary != NULL && fsync(fileno(file)) != 0)
        return false;
    output->file = NULL;
    if (fclose(file) != 0)
        return false;
    if (output->temporary == NULL)
        return true;
    if (rename(output->temporary, output->path) != 0)
        return false;
    free(output->temporary);
    output->temporary = NULL;
    return true;
}

medley_status md_output_commit(md_output *output, medley_error *error)
{
    const medley_status status = finish(output) ? MEDLEY_OK : fail_writing(output, error);
    md_output_abandon(output);
    return status;
}

void md_output_abandon(md_output *output)
{
    if (output->compressed != NULL)
        gzclose(output->compressed);
    if (output->file != NULL && output->path != NULL)
        fclose(output->file);
    if (output->temporary != NULL)
        unlink(output->temporary);
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
/* NOLINTEND(clang-analyzer-unix.Malloc) */
