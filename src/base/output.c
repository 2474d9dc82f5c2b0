/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/output.h"

#include "base/memory.h"
#include <stdbool.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

static bool is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

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
    const size_t length = strlen(path);
    output->path = md_copy_text(path, length);
    if (output->path == NULL)
        return md_fail_memory(error, length);
    if (is_special(path)) { /* a device or pipe such as /dev/stdout cannot be renamed into place */
        output->file = fopen(path, "wb");
    } else {
        output->temporary = malloc(length + 16);
        if (output->temporary == NULL)
            return md_fail_memory(error, length);
        snprintf(output->temporary, length + 16, "%s.XXXXXX", path);
        const int descriptor = mkstemp(output->temporary);
        if (descriptor >= 0) {
            const mode_t mask = umask(0);
            umask(mask);
            (void)fchmod(descriptor, 0666 & ~mask); /* mkstemp's 0600 would surprise */
            output->file = fdopen(descriptor, "wb");
        }
    }
    if (output->file == NULL) {
        const medley_status status =
            md_fail_at(error, MEDLEY_FAILED, path, 0,
                       "cannot write: %s; check that the folder exists and may be written to",
                       strerror(errno));
        md_output_abandon(output);
        return status;
    }
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0) {
        output->compressed = gzdopen(dup(fileno(output->file)), "wb6");
        if (output->compressed == NULL) {
            md_output_abandon(output);
            return md_fail_memory(error, 1 << 18);
        }
    }
    return MEDLEY_OK;
}

medley_status md_output_write(md_output *output, const void *bytes, size_t count,
                              medley_error *error)
{
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
    errno = 0;
    if (count > 0 && fwrite(bytes, 1, count, output->file) != count)
        return fail_writing(output, error);
    return MEDLEY_OK;
}

medley_status md_output_commit(md_output *output, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    errno = 0;
    if (output->compressed != NULL) {
        if (gzclose(output->compressed) != Z_OK)
            status = fail_writing(output, error);
        output->compressed = NULL;
    }
    if (status == MEDLEY_OK && fflush(output->file) != 0)
        status = fail_writing(output, error);
    if (output->path == NULL) {
        *output = (md_output){0};
        return status;
    }
    if (status == MEDLEY_OK && output->temporary != NULL && fsync(fileno(output->file)) != 0)
        status = fail_writing(output, error);
    if (fclose(output->file) != 0 && status == MEDLEY_OK)
        status = fail_writing(output, error);
    output->file = NULL;
    if (status == MEDLEY_OK && output->temporary != NULL) {
        if (rename(output->temporary, output->path) != 0) {
            status = fail_writing(output, error);
        } else {
            free(output->temporary);
            output->temporary = NULL;
        }
    }
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
