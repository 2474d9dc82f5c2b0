/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints that are damaged are not looked into, those that were forged do no harm, and what is
 * no checkpoint is not overwritten. */
#include "fit/fitting.h"

#include "base/text.h"
#include "online/run.h"

enum { CHUNK = 1 << 16, HEAD = 24 };

static medley_status resume(const medley_dataset *train, const char *text, medley_error *error)
{
    medley_model *model = NULL;
    medley_options *options = make_options(text);
    const medley_status status = medley_fit(&model, train, NULL, options, NULL, error);
    medley_options_free(options);
    medley_model_free(model);
    return status;
}

static char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void write_whole(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* The checksum of a file of this size as a forger would write it. */
static void sign(char *bytes, size_t size)
{
    uint64_t sum = 0;
    const size_t length = size - sizeof sum;
    for (size_t at = 0; at < length; at += CHUNK) {
        const size_t piece = length - at < CHUNK ? length - at : CHUNK;
        sum = (sum ^ md_hash_bytes(bytes + at, piece)) * 0x9e3779b97f4a7c15u;
    }
    memcpy(bytes + length, &sum, sizeof sum);
}

/* Every word of the state in turn is one that no honest run writes. Sizes, places and truth values
 * are among them; numbers may well make the run diverge. */
static void forged_checkpoints_never_reach_outside_their_arrays(void **state)
{
    (void)state;
    static const char *const runs[] = {"kernel=linear(explicit) kernel=bias penalty=group-lasso",
                                       "kernel=linear(explicit) penalty=l1",
                                       "kernel=linear kernel=bias method=obscure"};
    static const uint64_t values[] = {UINT64_MAX, (uint64_t)1 << 40, 0x7fffffff, 3};
    medley_dataset *train = make_data("blobs", 12, 1);
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        char path[PATH_SIZE];
        char text[400];
        size_t size;
        const char *length = strstr(runs[r], "obscure") ? "epochs1=2 epochs2=2" : "epochs=4 eta0=1";
        temporary_path(path);
        unlink(path);
        snprintf(text, sizeof text, "%s %s threads=1 checkpoint=%s", runs[r], length, path);
        medley_model_free(fit(train, NULL, text));
        char *good = read_whole(path, &size);
        char *bad = malloc(size);
        assert_non_null(bad);
        length = strstr(runs[r], "obscure") ? "epochs1=2 epochs2=6" : "epochs=6 eta0=1";
        snprintf(text, sizeof text, "%s %s threads=1 checkpoint=%s resume=yes", runs[r], length,
                 path);
        for (size_t at = HEAD; at + 16 <= size; at += 8)
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                medley_error error = {0};
                memcpy(bad, good, size);
                memcpy(bad + at, &values[v], sizeof values[v]);
                sign(bad, size);
                write_whole(path, bad, size);
                const medley_status status = resume(train, text, &error);
                if (status < 0)
                    assert_true(error.message[0] != '\0');
            }
        free(bad);
        free(good);
        unlink(path);
    }
    medley_dataset_free(train);
}

struct small_state {
    uint64_t numbers[4];
    size_t shown;
};

static void walk_small(void *state, md_state_visitor visit, void *context)
{
    struct small_state *small = state;
    small->shown++;
    visit(context, small->numbers, sizeof small->numbers);
}

static void a_damaged_checkpoint_is_refused_before_it_is_used(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    temporary_path(path);
    struct small_state written = {.numbers = {1, 2, 3, 4}};
    bool found;
    size_t size;
    assert_int_equal(md_checkpoint_save(path, 7, walk_small, &written, NULL), MEDLEY_OK);
    char *bytes = read_whole(path, &size);
    struct small_state read = {0};
    assert_int_equal(
        md_checkpoint_load(path, &(md_checkpoint_keys){7, 8}, walk_small, &read, &found, NULL),
        MEDLEY_OK);
    assert_true(found);
    assert_memory_equal(read.numbers, written.numbers, sizeof read.numbers);
    for (size_t at = 0; at < size; at++) {
        struct small_state untouched = {0};
        bytes[at] ^= 1;
        write_whole(path, bytes, size);
        assert_true(md_checkpoint_load(path, &(md_checkpoint_keys){7, 8}, walk_small, &untouched,
                                       &found, NULL) < 0);
        assert_false(found);
        assert_int_equal(untouched.shown, 0);
        bytes[at] ^= 1;
    }
    for (size_t length = 0; length < size; length++) {
        struct small_state untouched = {0};
        write_whole(path, bytes, length);
        assert_true(md_checkpoint_load(path, &(md_checkpoint_keys){7, 8}, walk_small, &untouched,
                                       &found, NULL) < 0);
        assert_int_equal(untouched.shown, 0);
    }
    free(bytes);
    unlink(path);
}

static void a_file_that_is_no_checkpoint_is_not_overwritten(void **state)
{
    (void)state;
    static const char text[] = "x,y,label\n1,2,a\n";
    char path[PATH_SIZE];
    char options[400];
    medley_error error = {0};
    size_t size;
    medley_dataset *train = make_data("blobs", 12, 1);
    temporary_path(path);
    write_whole(path, text, sizeof text);
    snprintf(options, sizeof options, "method=spom epochs=2 eta0=1 checkpoint=%s", path);
    assert_int_equal(resume(train, options, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "no checkpoint"));
    char *bytes = read_whole(path, &size);
    assert_int_equal(size, sizeof text);
    assert_memory_equal(bytes, text, size);
    free(bytes);
    write_whole(path, "", 0); /* as mktemp leaves it */
    assert_int_equal(resume(train, options, &error), MEDLEY_OK);
    assert_int_equal(resume(train, options, &error), MEDLEY_OK); /* a checkpoint may be replaced */
    unlink(path);
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forged_checkpoints_never_reach_outside_their_arrays),
        cmocka_unit_test(a_damaged_checkpoint_is_refused_before_it_is_used),
        cmocka_unit_test(a_file_that_is_no_checkpoint_is_not_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
