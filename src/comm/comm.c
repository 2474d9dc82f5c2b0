/* SPDX-License-Identifier: BSD-3-Clause */
/* A group of ranks from its functions: creation, shares, and what is built on three ways to
 * exchange bytes. */
#include "comm/comm_internal.h"

#include "base/parallel.h"
#include "base/struct_size.h"
#include "base/text.h"
#include "medley/options.h"
#include <unistd.h>

enum { FEW = 256 };          /* values that are summed by showing all of them to everybody */
enum { MANY = 4 << 20 };     /* values that are summed at a time: 32 MB */
enum { MOST_RANKS = 65536 }; /* a number beyond it is a mistake */

/* ---- who is who ---- */

size_t medley_comm_rank(const medley_comm *comm)
{
    return comm != NULL ? comm->functions.rank : 0;
}

size_t medley_comm_size(const medley_comm *comm)
{
    return comm != NULL ? comm->functions.size : 1;
}

size_t md_comm_local_size(const medley_comm *comm)
{
    return comm != NULL && comm->functions.local_size > 0 ? comm->functions.local_size
                                                          : medley_comm_size(comm);
}

size_t md_comm_processors(const medley_comm *comm)
{
    const size_t allowed = md_processor_count();
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    const bool bound = all > 0 && allowed < (size_t)all;
    return bound ? allowed : md_max(allowed / md_comm_local_size(comm), 1);
}

md_host md_own_host(void)
{
    md_host host = {""};
    if (gethostname(host.name, sizeof host.name - 1) != 0)
        snprintf(host.name, sizeof host.name, "unknown host");
    return host;
}

md_rank_name md_name_rank(size_t rank, const md_host *host)
{
    md_rank_name name;
    snprintf(name.text, sizeof name.text, "rank %zu (on %.*s)", rank, MD_HOST_BYTES - 1,
             host->name);
    return name;
}

md_span md_share_of(size_t count, size_t unit, size_t rank, size_t size)
{
    const size_t units = md_pieces(count, unit);
    const size_t ranks = md_max(size, 1);
    const size_t each = units / ranks;
    const size_t more = units % ranks; /* of the first ranks have one unit more */
    const size_t first = rank * each + md_min(rank, more);
    const size_t end = first + each + (rank < more ? 1 : 0);
    return (md_span){md_min(first * unit, count), md_min(end * unit, count)};
}

md_span md_comm_share(const medley_comm *comm, size_t count, size_t unit)
{
    return md_share_of(count, unit, medley_comm_rank(comm), medley_comm_size(comm));
}

/* ---- the three ways to exchange bytes, counted ---- */

static medley_status finish(medley_comm *comm, int failed, double began, double sent, double gotten,
                            medley_error *error)
{
    comm->counts.calls++;
    comm->counts.bytes_sent += sent;
    comm->counts.bytes_gotten += gotten;
    comm->counts.seconds += md_clock_seconds() - began;
    return failed == 0 ? MEDLEY_OK : md_fail(error, MEDLEY_FAILED, MD_COMM_BROKEN);
}

medley_status md_comm_broadcast(medley_comm *comm, void *data, size_t bytes, medley_error *error)
{
    const size_t size = medley_comm_size(comm);
    const double began = md_clock_seconds();
    if (size == 1 || bytes == 0)
        return MEDLEY_OK;
    const int failed = comm->functions.broadcast(comm->functions.context, data, bytes);
    const bool first = medley_comm_rank(comm) == 0;
    return finish(comm, failed, began, first ? (double)bytes * (double)(size - 1) : 0,
                  first ? 0 : (double)bytes, error);
}

/* offset: in bytes. */
static medley_status gather(medley_comm *comm, void *data, const size_t *offset,
                            medley_error *error)
{
    const size_t size = medley_comm_size(comm);
    const size_t rank = medley_comm_rank(comm);
    const double began = md_clock_seconds();
    if (offset[size] == offset[0])
        return MEDLEY_OK;
    const int failed = comm->functions.gather(comm->functions.context, data, offset);
    const double own = (double)(offset[rank + 1] - offset[rank]);
    return finish(comm, failed, began, own * (double)(size - 1),
                  (double)(offset[size] - offset[0]) - own, error);
}

static medley_status exchange(medley_comm *comm, const void *send, const size_t *send_offset,
                              void *receive, const size_t *receive_offset, medley_error *error)
{
    const size_t size = medley_comm_size(comm);
    const size_t rank = medley_comm_rank(comm);
    const double began = md_clock_seconds();
    const int failed = comm->functions.exchange(comm->functions.context, send, send_offset, receive,
                                                receive_offset);
    const double kept = (double)(send_offset[rank + 1] - send_offset[rank]);
    return finish(comm, failed, began, (double)(send_offset[size] - send_offset[0]) - kept,
                  (double)(receive_offset[size] - receive_offset[0]) - kept, error);
}

void md_comm_note_work(medley_comm *comm, double values)
{
    if (comm != NULL)
        comm->counts.work += values;
}

/* ---- gathering ---- */

medley_status md_comm_gather_spans(medley_comm *comm, void *data, const size_t *offset,
                                   size_t bytes, medley_error *error)
{
    const size_t size = medley_comm_size(comm);
    MD_OWNED(free) size_t *scaled = NULL;
    if (size == 1)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&scaled, size + 1, sizeof *scaled, error));
    for (size_t r = 0; r <= size; r++)
        scaled[r] = offset[r] * bytes;
    return gather(comm, data, scaled, error);
}

/* offset[size + 1]: where the shares begin. */
static void find_shares(const medley_comm *comm, size_t count, size_t unit, size_t *offset)
{
    const size_t size = medley_comm_size(comm);
    for (size_t r = 0; r < size; r++)
        offset[r] = md_share_of(count, unit, r, size).first;
    offset[size] = count;
}

medley_status md_comm_gather(medley_comm *comm, void *data, size_t count, size_t unit, size_t bytes,
                             medley_error *error)
{
    MD_OWNED(free) size_t *offset = NULL;
    if (medley_comm_size(comm) == 1)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&offset, medley_comm_size(comm) + 1, sizeof *offset, error));
    find_shares(comm, count, unit, offset);
    return md_comm_gather_spans(comm, data, offset, bytes, error);
}

medley_status md_comm_gather_columns(medley_comm *comm, float *matrix, size_t rows, size_t stride,
                                     size_t columns, size_t unit, medley_error *error)
{
    const size_t size = medley_comm_size(comm);
    const size_t rank = medley_comm_rank(comm);
    MD_OWNED(free) size_t *offset = NULL;
    MD_OWNED(free) float *packed = NULL; /* the columns of one rank after those of another */
    if (size == 1)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&offset, size + 1, sizeof *offset, error));
    MEDLEY_TRY(md_new(&packed, rows * columns, sizeof *packed, error));
    for (size_t r = 0; r <= size; r++)
        offset[r] = rows * (r < size ? md_share_of(columns, unit, r, size).first : columns);
    const md_span own = md_comm_share(comm, columns, unit);
    const size_t width = own.end - own.first;
    for (size_t i = 0; i < rows && width > 0; i++)
        memcpy(packed + offset[rank] + i * width, matrix + i * stride + own.first,
               width * sizeof *packed);
    MEDLEY_TRY(md_comm_gather_spans(comm, packed, offset, sizeof *packed, error));
    for (size_t r = 0; r < size; r++) {
        const md_span share = md_share_of(columns, unit, r, size);
        for (size_t i = 0; i < rows && r != rank && share.end > share.first; i++)
            memcpy(matrix + i * stride + share.first,
                   packed + offset[r] + i * (share.end - share.first),
                   (share.end - share.first) * sizeof *packed);
    }
    return MEDLEY_OK;
}

medley_status md_comm_gather_any(medley_comm *comm, const void *own, size_t bytes, char **all,
                                 size_t *capacity, size_t *offset, medley_error *error)
{
    const size_t size = medley_comm_size(comm);
    const size_t rank = medley_comm_rank(comm);
    MD_OWNED(free) uint64_t *length = NULL;
    MEDLEY_TRY(md_new(&length, size, sizeof *length, error));
    length[rank] = bytes;
    MEDLEY_TRY(md_comm_gather(comm, length, size, 1, sizeof *length, error));
    offset[0] = 0;
    for (size_t r = 0; r < size; r++)
        offset[r + 1] = offset[r] + (size_t)length[r];
    MEDLEY_TRY(md_grow(all, capacity, md_max(offset[size], 1), 1, error));
    if (bytes > 0)
        memcpy(*all + offset[rank], own, bytes);
    return md_comm_gather_spans(comm, *all, offset, 1, error);
}

/* ---- sums ---- */

/* values[count] += those of the other ranks, which all are at hand: all[size][count]. */
static void add_in_order(double *values, const double *all, size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t r = 0; r < size; r++)
            sum += all[r * count + i];
        values[i] = sum;
    }
}

static medley_status sum_few(medley_comm *comm, double *values, size_t count, medley_error *error)
{
    double all[FEW] = {0};
    const size_t size = medley_comm_size(comm);
    memcpy(all + medley_comm_rank(comm) * count, values, count * sizeof *values);
    MEDLEY_TRY(md_comm_gather(comm, all, size, 1, count * sizeof *values, error));
    add_in_order(values, all, size, count);
    return MEDLEY_OK;
}

/* Every rank adds up its share, and then all are gathered: what a rank sends and gets is twice the
 * values, however many ranks there are. */
static medley_status sum_some(medley_comm *comm, double *values, size_t count, double *scratch,
                              size_t *offset, medley_error *error)
{
    const size_t size = medley_comm_size(comm);
    const md_span own = md_comm_share(comm, count, 1);
    const size_t width = own.end - own.first;
    size_t *from = offset + size + 1;
    find_shares(comm, count, 1, offset);
    for (size_t r = 0; r <= size; r++) {
        offset[r] *= sizeof *values;
        from[r] = r * width * sizeof *values;
    }
    MEDLEY_TRY(exchange(comm, values, offset, scratch, from, error));
    add_in_order(values + own.first, scratch, size, width);
    return gather(comm, values, offset, error);
}

medley_status md_comm_sum(medley_comm *comm, double *values, size_t count, medley_error *error)
{
    const size_t size = medley_comm_size(comm);
    MD_OWNED(free) size_t *offset = NULL;
    MD_OWNED(free) double *scratch = NULL;
    if (size == 1 || count == 0)
        return MEDLEY_OK;
    if (count * size <= FEW)
        return sum_few(comm, values, count, error);
    const size_t each = md_min(count, MANY);
    MEDLEY_TRY(md_new(&offset, 2 * (size + 1), sizeof *offset, error));
    MEDLEY_TRY(md_new(&scratch, size * md_pieces(each, size), sizeof *scratch, error));
    for (size_t i = 0; i < count; i += each)
        MEDLEY_TRY(sum_some(comm, values + i, md_min(count - i, each), scratch, offset, error));
    return MEDLEY_OK;
}

/* ---- agreeing ---- */

medley_status md_comm_least(medley_comm *comm, double *value, medley_error *error)
{
    const size_t size = medley_comm_size(comm);
    MD_OWNED(free) double *all = NULL;
    if (size == 1)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&all, size, sizeof *all, error));
    all[medley_comm_rank(comm)] = *value;
    MEDLEY_TRY(md_comm_gather(comm, all, size, 1, sizeof *all, error));
    for (size_t r = 0; r < size; r++)
        *value = fmin(*value, all[r]);
    return MEDLEY_OK;
}

medley_status md_comm_any(medley_comm *comm, bool *value, medley_error *error)
{
    double least = *value ? 0 : 1;
    MEDLEY_TRY(md_comm_least(comm, &least, error));
    *value = least == 0;
    return MEDLEY_OK;
}

medley_status md_comm_check_same(medley_comm *comm, const void *data, size_t bytes,
                                 const char *what, medley_error *error)
{
    struct seen {
        uint64_t hash;
        md_host host;
    };
    const size_t size = medley_comm_size(comm);
    MD_OWNED(free) struct seen *all = NULL;
    if (size == 1)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&all, size, sizeof *all, error));
    all[medley_comm_rank(comm)] = (struct seen){md_hash_bytes(data, bytes), md_own_host()};
    MEDLEY_TRY(md_comm_gather(comm, all, size, 1, sizeof *all, error));
    for (size_t r = 1; r < size; r++)
        if (all[r].hash != all[0].hash)
            return md_fail(error, MEDLEY_FAILED,
                           "%s has other %s than rank 0; the ranks must have the same data and "
                           "options, and processors that compute alike",
                           md_name_rank(r, &all[r].host).text, what);
    return MEDLEY_OK;
}

/* ---- creation ---- */

/* What must be the same on all ranks, or they would not compute the same. */
struct build {
    char version[32], vectors[16], blas[64];
    md_host host;
};

static struct build own_build(void)
{
    struct build build = {.host = md_own_host()};
    snprintf(build.version, sizeof build.version, "%s", MEDLEY_VERSION);
    snprintf(build.vectors, sizeof build.vectors, "%s", medley_vectors());
    snprintf(build.blas, sizeof build.blas, "%s", medley_blas());
    return build;
}

static medley_status compare_builds(medley_comm *comm, medley_error *error)
{
    const size_t size = medley_comm_size(comm);
    MD_OWNED(free) struct build *all = NULL;
    MEDLEY_TRY(md_new(&all, size, sizeof *all, error));
    all[medley_comm_rank(comm)] = own_build();
    MEDLEY_TRY(md_comm_gather(comm, all, size, 1, sizeof *all, error));
    for (size_t r = 1; r < size; r++) {
        const md_rank_name name = md_name_rank(r, &all[r].host);
        if (strcmp(all[r].version, all[0].version) != 0)
            return md_fail(error, MEDLEY_FAILED,
                           "%s runs Medley %s and rank 0 (on %s) %s; install the same version "
                           "everywhere",
                           name.text, all[r].version, all[0].host.name, all[0].version);
        if (strcmp(all[r].vectors, all[0].vectors) != 0 || strcmp(all[r].blas, all[0].blas) != 0)
            return md_fail(error, MEDLEY_FAILED,
                           "%s computes with %s loops and %s, rank 0 (on %s) with %s loops and "
                           "%s, which do not round alike; give all of them the same by "
                           "MEDLEY_VECTORS=avx2 and OPENBLAS_CORETYPE=Haswell in the environment",
                           name.text, all[r].vectors, all[r].blas, all[0].host.name, all[0].vectors,
                           all[0].blas);
    }
    return MEDLEY_OK;
}

medley_status medley_comm_create(medley_comm **result, const medley_comm_functions *functions,
                                 medley_error *error)
{
    md_begin(error);
    MD_OWNED(free) medley_comm *comm = NULL;
    MEDLEY_TRY(md_new(&comm, 1, sizeof *comm, error));
    medley_comm_functions *own = &comm->functions;
    *own = (medley_comm_functions)MEDLEY_COMM_FUNCTIONS_INIT;
    comm->counts = (medley_comm_counts)MEDLEY_COMM_COUNTS_INIT;
    MEDLEY_TRY(MD_TAKE_STRUCT(own, functions, MEDLEY_COMM_FUNCTIONS_INIT, error));
    if (own->size == 0 || own->size > MOST_RANKS || own->rank >= own->size)
        return md_fail(error, MEDLEY_USAGE, "rank %zu of %zu: there is no such rank", own->rank,
                       own->size);
    if (own->size > 1 && (own->broadcast == NULL || own->gather == NULL || own->exchange == NULL))
        return md_fail(error, MEDLEY_USAGE,
                       "a comm of several ranks needs broadcast, gather and exchange");
    MEDLEY_TRY(compare_builds(comm, error));
    comm->counts = (medley_comm_counts)MEDLEY_COMM_COUNTS_INIT;
    *result = md_take(&comm);
    return MEDLEY_OK;
}

medley_status medley_comm_count(medley_comm_counts *counts, const medley_comm *comm,
                                medley_error *error)
{
    md_begin(error);
    medley_comm_counts none = MEDLEY_COMM_COUNTS_INIT;
    MEDLEY_TRY(md_check_struct(counts, "MEDLEY_COMM_COUNTS_INIT", error));
    md_fill_struct(counts, comm != NULL ? &comm->counts : &none, sizeof none);
    return MEDLEY_OK;
}

medley_status medley_comm_broadcast(medley_comm *comm, void *data, size_t bytes,
                                    medley_error *error)
{
    md_begin(error);
    return md_comm_broadcast(comm, data, bytes, error);
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyser does not follow cleanup */
bool medley_comm_settle(size_t *teller, medley_comm *comm, medley_status status)
{
    static const double PATIENCE = 3;   /* seconds, of a rank that has failed */
    static const double FOR_EVER = 1e9; /* another one may still write its results */
    const size_t size = medley_comm_size(comm);
    MD_OWNED(free) int32_t *all = calloc(size, sizeof *all);
    *teller = status < 0 ? medley_comm_rank(comm) : size;
    if (size == 1)
        return true;
    const medley_comm_functions *own = &comm->functions;
    if (own->meet != NULL && own->meet(own->context, status < 0 ? PATIENCE : FOR_EVER) != 0)
        return false;
    if (all == NULL)
        return false;
    all[own->rank] = status < 0;
    if (md_comm_gather(comm, all, size, 1, sizeof *all, NULL) < 0)
        return false;
    for (*teller = 0; *teller < size && !all[*teller];)
        ++*teller;
    return true;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

void medley_comm_end(medley_comm *comm, int code)
{
    if (comm == NULL || comm->functions.end_all == NULL)
        return;
    md_comm_remove_copies(comm);
    comm->functions.end_all(comm->functions.context, code);
}
