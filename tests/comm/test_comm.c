/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks exchange, against what a single process computes. */
#include "base/random.h"
#include "comm/comm.h"
#include "comm/fake_ranks.h"
#include "fit/fitting.h"

static void succeed(struct fake_group *group)
{
    for (size_t r = 0; r < group->size; r++)
        if (group->ranks[r].status != MEDLEY_OK)
            fail_msg("rank %zu: %s", r, group->ranks[r].error.message);
}

#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return md_fail(error, MEDLEY_FAILED, "line %d: %s", __LINE__, #condition);             \
    } while (0)

static void test_shares_cover_everything_in_order(void **state)
{
    (void)state;
    for (size_t count = 0; count < 70; count++)
        for (size_t unit = 1; unit < 9; unit += 3)
            for (size_t size = 1; size < 12; size++) {
                size_t at = 0;
                size_t most = 0;
                size_t least = count;
                for (size_t r = 0; r < size; r++) {
                    const md_span span = md_share_of(count, unit, r, size);
                    assert_int_equal(span.first, at);
                    assert_true(span.end >= span.first);
                    assert_true(span.end == count || span.end % unit == 0);
                    at = span.end;
                    most = md_max(most, span.end - span.first);
                    least = md_min(least, span.end - span.first);
                }
                assert_int_equal(at, count);
                assert_true(most - least < 2 * unit);
            }
}

/* ---- gathering ---- */

static medley_status gather_all(medley_comm *comm, size_t rank, void *context, medley_error *error)
{
    const size_t count = *(size_t *)context;
    const size_t unit = 1 + count % 5;
    int32_t *values = calloc(count + 1, sizeof *values);
    const md_span own = md_comm_share(comm, count, unit);
    NEED(medley_comm_rank(comm) == rank);
    for (size_t i = own.first; i < own.end; i++)
        values[i] = (int32_t)(3 * i + 1);
    MEDLEY_TRY(md_comm_gather(comm, values, count, unit, sizeof *values, error));
    for (size_t i = 0; i < count; i++)
        NEED(values[i] == (int32_t)(3 * i + 1));
    free(values);
    return MEDLEY_OK;
}

static medley_status gather_columns(medley_comm *comm, size_t rank, void *context,
                                    medley_error *error)
{
    enum { ROWS = 3 };
    const size_t columns = *(size_t *)context;
    const size_t stride = columns + 2;
    float *matrix = calloc(ROWS * stride, sizeof *matrix);
    const md_span own = md_comm_share(comm, columns, 4);
    (void)rank;
    for (size_t i = 0; i < ROWS * stride; i++)
        if (i % stride >= columns || (i % stride >= own.first && i % stride < own.end))
            matrix[i] = (float)i;
    MEDLEY_TRY(md_comm_gather_columns(comm, matrix, ROWS, stride, columns, 4, error));
    for (size_t i = 0; i < ROWS * stride; i++)
        NEED(matrix[i] == (float)i);
    free(matrix);
    return MEDLEY_OK;
}

/* Rank r says r times the letter 'a' + r. */
static medley_status gather_words(medley_comm *comm, size_t rank, void *context,
                                  medley_error *error)
{
    char own[MOST_FAKE_RANKS];
    char *all = NULL;
    size_t offset[MOST_FAKE_RANKS + 1];
    (void)context;
    memset(own, 'a' + (int)rank, sizeof own);
    size_t capacity = 0;
    MEDLEY_TRY(md_comm_gather_any(comm, own, rank, &all, &capacity, offset, error));
    for (size_t r = 0; r < medley_comm_size(comm); r++) {
        NEED(offset[r + 1] - offset[r] == r);
        for (size_t i = offset[r]; i < offset[r + 1]; i++)
            NEED(all[i] == 'a' + (int)r);
    }
    free(all);
    return MEDLEY_OK;
}

static void test_gathers(void **state)
{
    (void)state;
    struct fake_group group;
    for (size_t size = 1; size <= 5; size += 2)
        for (size_t count = 0; count < 40; count += 3) {
            run_fake_ranks(&group, size, gather_all, &count);
            succeed(&group);
            run_fake_ranks(&group, size, gather_columns, &count);
            succeed(&group);
        }
    run_fake_ranks(&group, 6, gather_words, NULL);
    succeed(&group);
}

/* ---- sums ---- */

static double value_of(size_t rank, size_t i)
{
    return 1 / (1 + (double)((i * 31 + rank * 7) % 1013)) * (i % 2 ? -1 : 1e6);
}

static medley_status sum_up(medley_comm *comm, size_t rank, void *context, medley_error *error)
{
    const size_t count = *(size_t *)context;
    double *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = value_of(rank, i);
    MEDLEY_TRY(md_comm_sum(comm, values, count, error));
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t r = 0; r < medley_comm_size(comm); r++)
            sum += value_of(r, i);
        NEED(medley_comm_size(comm) == 1 || values[i] == sum); /* to the bit */
    }
    free(values);
    return MEDLEY_OK;
}

static void test_sums_are_added_in_the_order_of_ranks(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 40, 255, 256, 257, 1000, 12345};
    struct fake_group group;
    for (size_t size = 1; size <= 4; size++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            size_t count = counts[c];
            run_fake_ranks(&group, size, sum_up, &count);
            succeed(&group);
        }
    size_t large = (4 << 20) + 3; /* more than are summed at a time */
    run_fake_ranks(&group, 2, sum_up, &large);
    succeed(&group);
}

/* ---- agreeing ---- */

static medley_status agree(medley_comm *comm, size_t rank, void *context, medley_error *error)
{
    double value = rank == 1 ? -2.5 : (double)rank;
    bool any = rank == 2;
    bool none = false;
    char text[8] = "alike";
    (void)context;
    MEDLEY_TRY(md_comm_least(comm, &value, error));
    NEED(value == -2.5);
    MEDLEY_TRY(md_comm_any(comm, &any, error));
    MEDLEY_TRY(md_comm_any(comm, &none, error));
    NEED(any && !none);
    MEDLEY_TRY(md_comm_check_same(comm, text, sizeof text, "texts", error));
    text[5] = rank == 2 ? '!' : '\0';
    NEED(md_comm_check_same(comm, text, sizeof text, "texts", NULL) == MEDLEY_FAILED);
    MEDLEY_TRY(md_comm_broadcast(comm, text, sizeof text, error));
    NEED(strcmp(text, "alike") == 0);
    medley_comm_counts counts = MEDLEY_COMM_COUNTS_INIT;
    MEDLEY_TRY(medley_comm_count(&counts, comm, error));
    NEED(counts.calls == 6 && counts.bytes_sent > 0 && counts.seconds >= 0);
    return MEDLEY_OK;
}

static medley_status end_differently(medley_comm *comm, size_t rank, void *context,
                                     medley_error *error)
{
    size_t teller = 99;
    (void)context;
    NEED(medley_comm_settle(&teller, comm, MEDLEY_OK));
    NEED(teller == 3);
    NEED(medley_comm_settle(&teller, comm, rank > 0 ? MEDLEY_BAD_INPUT : MEDLEY_OK));
    NEED(teller == 1);
    return MEDLEY_OK;
}

static void test_ranks_agree(void **state)
{
    (void)state;
    struct fake_group group;
    run_fake_ranks(&group, 3, agree, NULL);
    succeed(&group);
    run_fake_ranks(&group, 3, end_differently, NULL);
    succeed(&group);
}

static void test_alone_nothing_is_exchanged(void **state)
{
    (void)state;
    medley_error error = {0};
    double value = 3;
    bool any = true;
    size_t teller = 7;
    char found[64];
    assert_int_equal(medley_comm_size(NULL), 1);
    assert_int_equal(medley_comm_rank(NULL), 0);
    assert_int_equal(md_comm_sum(NULL, &value, 1, &error), MEDLEY_OK);
    assert_int_equal(md_comm_least(NULL, &value, &error), MEDLEY_OK);
    assert_true(value == 3);
    assert_int_equal(md_comm_any(NULL, &any, &error), MEDLEY_OK);
    assert_true(any);
    assert_int_equal(md_comm_gather(NULL, &value, 1, 1, sizeof value, &error), MEDLEY_OK);
    assert_int_equal(medley_comm_broadcast(NULL, &value, sizeof value, &error), MEDLEY_OK);
    assert_true(medley_comm_settle(&teller, NULL, MEDLEY_FAILED));
    assert_int_equal(teller, 0);
    assert_true(medley_comm_settle(&teller, NULL, MEDLEY_OK));
    assert_int_equal(teller, 1);
    assert_int_equal(medley_comm_file(found, sizeof found, NULL, "any.csv", &error), MEDLEY_OK);
    assert_string_equal(found, "any.csv");
    medley_comm_end(NULL, 1);
    medley_comm_free(NULL);
}

/* ---- files ---- */

struct files {
    char path[3][PATH_SIZE]; /* of each rank */
    bool copied[3];
};

static medley_status share_file(medley_comm *comm, size_t rank, void *context, medley_error *error)
{
    struct files *files = context;
    char found[512];
    size_t length = 0;
    MEDLEY_TRY(medley_comm_file(found, sizeof found, comm, files->path[rank], error));
    char *bytes = read_bytes(found, &length);
    NEED(length == 5 && memcmp(bytes, "hello", 5) == 0);
    free(bytes);
    files->copied[rank] = strcmp(found, files->path[rank]) != 0;
    NEED(strcmp(strrchr(found, '.'), ".csv") == 0); /* the ending tells the format */
    medley_comm_free(NULL);
    return MEDLEY_OK;
}

static void test_files_of_rank_0_are_those_of_all(void **state)
{
    (void)state;
    struct fake_group group;
    struct files files = {0};
    char base[PATH_SIZE];
    temporary_path(base);
    snprintf(files.path[0], PATH_SIZE, "%.200s.csv", base);
    snprintf(files.path[1], PATH_SIZE, "%.200s-none/a.csv", base);
    snprintf(files.path[2], PATH_SIZE, "%.200s.csv", base);
    write_bytes(files.path[0], "hello", 5);
    run_fake_ranks(&group, 3, share_file, &files);
    succeed(&group);
    assert_true(!files.copied[0] && files.copied[1] && !files.copied[2]);

    snprintf(files.path[2], PATH_SIZE, "%.200s-other.csv", base);
    write_bytes(files.path[2], "hellO", 5);
    run_fake_ranks(&group, 3, share_file, &files);
    for (size_t r = 0; r < 3; r++) {
        assert_int_equal(group.ranks[r].status, MEDLEY_BAD_INPUT);
        assert_non_null(strstr(group.ranks[r].error.message, "rank 2"));
        assert_non_null(strstr(group.ranks[r].error.message, "another file"));
    }
    unlink(files.path[0]);
    run_fake_ranks(&group, 3, share_file, &files);
    for (size_t r = 0; r < 3; r++) {
        assert_int_equal(group.ranks[r].status, MEDLEY_FAILED);
        assert_non_null(strstr(group.ranks[r].error.message, "cannot open"));
    }
    unlink(files.path[2]);
    unlink(base);
}

/* ---- creation ---- */

/* A second rank that is this one, but for the letter at `changed` of what it says. */
struct mirror {
    size_t changed;
};

static int mirror_gather(void *context, void *data, const size_t *offset)
{
    const struct mirror *mirror = context;
    char *bytes = data;
    memcpy(bytes + offset[1], bytes, offset[1]);
    bytes[offset[1] + mirror->changed] ^= 1;
    return 0;
}

static int mirror_fail(void *context, void *data, const size_t *offset)
{
    (void)context;
    (void)data;
    (void)offset;
    return 1;
}

static void test_other_versions_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t changed;
        const char *message;
    } cases[] = {{0, "install the same version"}, {32, "MEDLEY_VECTORS"}, {48, "MEDLEY_VECTORS"}};
    medley_error error = {0};
    medley_comm *comm = NULL;
    medley_comm_functions functions = MEDLEY_COMM_FUNCTIONS_INIT;
    functions.size = 2;
    functions.broadcast = fake_broadcast;
    functions.exchange = fake_exchange;
    functions.gather = mirror_gather;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct mirror mirror = {cases[c].changed};
        functions.context = &mirror;
        assert_int_equal(medley_comm_create(&comm, &functions, &error), MEDLEY_FAILED);
        assert_non_null(strstr(error.message, cases[c].message));
    }
    functions.gather = mirror_fail;
    assert_int_equal(medley_comm_create(&comm, &functions, &error), MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "cannot reach each other"));
}

static void test_bad_functions_are_refused(void **state)
{
    (void)state;
    medley_error error = {0};
    medley_comm *comm = NULL;
    medley_comm_functions functions = MEDLEY_COMM_FUNCTIONS_INIT;
    functions.size = 2;
    assert_int_equal(medley_comm_create(&comm, &functions, &error), MEDLEY_USAGE);
    functions.rank = 2;
    assert_int_equal(medley_comm_create(&comm, &functions, &error), MEDLEY_USAGE);
    functions.size = 0;
    assert_int_equal(medley_comm_create(&comm, &functions, &error), MEDLEY_USAGE);
    functions = (medley_comm_functions)MEDLEY_COMM_FUNCTIONS_INIT;
    assert_int_equal(medley_comm_create(&comm, &functions, &error), MEDLEY_OK);
    assert_int_equal(medley_comm_size(comm), 1);
    medley_comm_free(comm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_cover_everything_in_order),
        cmocka_unit_test(test_gathers),
        cmocka_unit_test(test_sums_are_added_in_the_order_of_ranks),
        cmocka_unit_test(test_ranks_agree),
        cmocka_unit_test(test_alone_nothing_is_exchanged),
        cmocka_unit_test(test_files_of_rank_0_are_those_of_all),
        cmocka_unit_test(test_other_versions_are_refused),
        cmocka_unit_test(test_bad_functions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
