/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of rank 0 for ranks that do not see them, and a word with those that see other ones. */
#include "comm/comm_internal.h"

#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { PIECE = 4 << 20 }; /* bytes that are read or sent at a time */

/* What a rank sees of a file. */
struct seen {
    md_host host;
    int64_t size;   /* -1: there is none */
    uint32_t sum;   /* CRC-32 of its bytes */
    int32_t reason; /* errno, where it cannot be read */
};

static void close_file(FILE **file)
{
    if (*file != NULL)
        fclose(*file);
}

static struct seen look_at(const char *path, char *buffer)
{
    struct seen seen = {.host = md_own_host(), .size = -1};
    MD_CLEARED(close_file) FILE *file = fopen(path, "rb");
    if (file == NULL) {
        seen.reason = errno;
        return seen;
    }
    size_t got;
    int64_t size = 0;
    uLong sum = crc32(0, NULL, 0);
    while ((got = fread(buffer, 1, PIECE, file)) > 0) {
        sum = crc32(sum, (const Bytef *)buffer, (uInt)got);
        size += (int64_t)got;
    }
    if (ferror(file)) {
        seen.reason = errno;
        return seen;
    }
    seen.size = size;
    seen.sum = (uint32_t)sum;
    return seen;
}

/* ---- copies ---- */

void md_comm_remove_copies(medley_comm *comm)
{
    for (size_t i = 0; i < comm->copy_count; i++) {
        (void)unlink(comm->copies[i]);
        free(comm->copies[i]);
    }
    free(comm->copies);
    if (comm->folder != NULL)
        (void)rmdir(comm->folder);
    free(comm->folder);
    comm->copies = NULL;
    comm->folder = NULL;
    comm->copy_count = comm->copy_capacity = 0;
}

static medley_status make_folder(medley_comm *comm, medley_error *error)
{
    const char *parent = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    MD_CLEARED(md_text_clear) md_text name = {0};
    if (comm->folder != NULL)
        return MEDLEY_OK;
    md_text_addf(&name, "%s/medley-XXXXXX", parent);
    MEDLEY_TRY(md_text_check(&name, error));
    if (mkdtemp(name.data) == NULL)
        return md_fail_at(error, MEDLEY_FAILED, parent, 0,
                          "cannot make a folder for copies of rank 0's files: %s; name another "
                          "one in TMPDIR",
                          strerror(errno));
    comm->folder = name.data;
    name = (md_text){0};
    return MEDLEY_OK;
}

/* Where a copy goes: the folder, a number and the name of the file, whose ending may say what
 * format it has. */
static medley_status name_copy(medley_comm *comm, const char *path, const char **copy,
                               medley_error *error)
{
    const char *slash = strrchr(path, '/');
    MD_CLEARED(md_text_clear) md_text name = {0};
    MEDLEY_TRY(make_folder(comm, error));
    md_text_addf(&name, "%s/%zu-%s", comm->folder, comm->copy_count,
                 slash != NULL ? slash + 1 : path);
    MEDLEY_TRY(md_text_check(&name, error));
    MEDLEY_TRY(md_grow(&comm->copies, &comm->copy_capacity, comm->copy_count + 1,
                       sizeof *comm->copies, error));
    *copy = comm->copies[comm->copy_count++] = name.data;
    name = (md_text){0};
    return MEDLEY_OK;
}

/* Standard input, which only rank 0 has, becomes a file. */
static medley_status keep_input(medley_comm *comm, char *buffer, const char **copy,
                                medley_error *error)
{
    MD_CLEARED(close_file) FILE *to = NULL;
    size_t got;
    MEDLEY_TRY(name_copy(comm, "standard-input", copy, error));
    if ((to = fopen(*copy, "wb")) == NULL)
        return md_fail_at(error, MEDLEY_FAILED, *copy, 0, "cannot write: %s", strerror(errno));
    while ((got = fread(buffer, 1, PIECE, stdin)) > 0)
        if (fwrite(buffer, 1, got, to) != got)
            break;
    if (ferror(stdin) || ferror(to) || fflush(to) != 0)
        return md_fail_at(error, MEDLEY_FAILED, *copy, 0,
                          "standard input cannot be kept: %s; name a folder with more room in "
                          "TMPDIR",
                          strerror(errno));
    return MEDLEY_OK;
}

/* All ranks: the bytes of rank 0's file go to those that have no such file. */
static medley_status send_bytes(medley_comm *comm, const char *path, FILE *from, FILE *to,
                                int64_t size, char *buffer, medley_error *error)
{
    for (int64_t done = 0; done < size;) {
        const size_t bytes = size - done < PIECE ? (size_t)(size - done) : PIECE;
        if (from != NULL && fread(buffer, 1, bytes, from) != bytes)
            return md_fail_at(error, MEDLEY_FAILED, path, 0,
                              "the file has become shorter while it was read");
        MEDLEY_TRY(md_comm_broadcast(comm, buffer, bytes, error));
        if (to != NULL && fwrite(buffer, 1, bytes, to) != bytes)
            return md_fail_at(error, MEDLEY_FAILED, path, 0,
                              "cannot write a copy of rank 0's file: %s; name a folder with more "
                              "room in TMPDIR",
                              strerror(errno));
        done += (int64_t)bytes;
    }
    return MEDLEY_OK;
}

static medley_status copy_file(medley_comm *comm, const char *path, bool lacks, int64_t size,
                               char *buffer, const char **copy, medley_error *error)
{
    MD_CLEARED(close_file) FILE *from = NULL;
    MD_CLEARED(close_file) FILE *to = NULL;
    if (medley_comm_rank(comm) == 0 && (from = fopen(path, "rb")) == NULL)
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "cannot open: %s", strerror(errno));
    if (lacks) {
        MEDLEY_TRY(name_copy(comm, path, copy, error));
        if ((to = fopen(*copy, "wb")) == NULL)
            return md_fail_at(error, MEDLEY_FAILED, *copy, 0, "cannot write: %s", strerror(errno));
    }
    MEDLEY_TRY(send_bytes(comm, path, from, to, size, buffer, error));
    if (to != NULL && fflush(to) != 0)
        return md_fail_at(error, MEDLEY_FAILED, *copy, 0, "cannot write: %s", strerror(errno));
    return MEDLEY_OK;
}

/* ---- the front door ---- */

/* Does anybody lack the file? Fails where somebody has another one. */
static medley_status compare(const struct seen *all, size_t size, const char *path, bool *lacks,
                             medley_error *error)
{
    *lacks = false;
    if (all[0].size < 0)
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "cannot open: %s; check the name",
                          strerror(all[0].reason));
    for (size_t r = 1; r < size; r++) {
        *lacks = *lacks || all[r].size < 0;
        if (all[r].size >= 0 && (all[r].size != all[0].size || all[r].sum != all[0].sum))
            return md_fail_at(
                error, MEDLEY_BAD_INPUT, path, 0,
                "%s sees another file under this name than rank 0 (on %s): %lld "
                "bytes and %lld; copy it there again, or remove it there and rank 0's "
                "is used",
                md_name_rank(r, &all[r].host).text, all[0].host.name, (long long)all[r].size,
                (long long)all[0].size);
    }
    return MEDLEY_OK;
}

medley_status medley_comm_file(char *found, size_t room, medley_comm *comm, const char *path,
                               medley_error *error)
{
    md_begin(error);
    const size_t size = medley_comm_size(comm);
    const size_t rank = medley_comm_rank(comm);
    const char *copy = path;
    bool lacks = false;
    MD_OWNED(free) struct seen *all = NULL;
    MD_OWNED(free) char *buffer = NULL;
    if (size > 1) {
        MEDLEY_TRY(md_new(&all, size, sizeof *all, error));
        MEDLEY_TRY(md_new(&buffer, PIECE, 1, error));
        if (strcmp(path, "-") == 0 && rank == 0) {
            MEDLEY_TRY(keep_input(comm, buffer, &copy, error));
            path = copy;
        }
        all[rank] = look_at(path, buffer);
        MEDLEY_TRY(md_comm_gather(comm, all, size, 1, sizeof *all, error));
        MEDLEY_TRY(compare(all, size, path, &lacks, error));
        if (lacks)
            MEDLEY_TRY(
                copy_file(comm, path, all[rank].size < 0, all[0].size, buffer, &copy, error));
    }
    if ((size_t)snprintf(found, room, "%s", copy) >= room)
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "the name of its copy is too long");
    return MEDLEY_OK;
}

void medley_comm_free(medley_comm *comm)
{
    if (comm == NULL)
        return;
    md_comm_remove_copies(comm);
    if (comm->functions.close != NULL)
        comm->functions.close(comm->functions.context);
    free(comm);
}
