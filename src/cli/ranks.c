/* SPDX-License-Identifier: BSD-3-Clause */
/* A command that mpirun has started several times: all ranks do the work together, rank 0 reads the
 * files that others do not see, prints and writes. */
#include "cli.h"

enum { PATH_BYTES = 4096 };

/* Options that name files to read; a value may be NAME=FILE or NAME=FILE:COLUMNS. */
static const char *const read_options[] = {"view",    "gram",   "distance", "gram-diagonal",
                                           "labels",  "dev",    "from",     "template",
                                           "kernels", "groups", NULL};

static bool can_open(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

/* Where in a value a file's name stands, for rank 0. */
struct place {
    size_t first, length; /* length 0: nowhere */
};

static struct place find_file(const char *value)
{
    const char *equals = strchr(value, '=');
    const char *file = equals != NULL ? equals + 1 : value;
    const char *colon = strrchr(file, ':');
    char copy[PATH_BYTES];
    if (strcmp(value, "-") == 0 || can_open(value))
        return (struct place){0, strlen(value)};
    if (file != value && can_open(file))
        return (struct place){(size_t)(file - value), strlen(file)};
    if (colon == NULL || (size_t)(colon - file) >= sizeof copy)
        return (struct place){0};
    snprintf(copy, sizeof copy, "%.*s", (int)(colon - file), file);
    return can_open(copy) ? (struct place){(size_t)(file - value), strlen(copy)}
                          : (struct place){0};
}

/* *value, with the file where this rank finds it; a new text is kept in arguments. */
static medley_status share_file(cli_arguments *arguments, const char **value, medley_error *error)
{
    char path[PATH_BYTES];
    char found[PATH_BYTES];
    struct place place = find_file(*value);
    CLI_TRY(medley_comm_broadcast(arguments->comm, &place, sizeof place, error));
    if (place.length == 0 || place.length >= sizeof path)
        return MEDLEY_OK;
    snprintf(path, sizeof path, "%.*s", (int)place.length, *value + place.first);
    CLI_TRY(medley_comm_file(found, sizeof found, arguments->comm, path, error));
    if (strcmp(found, path) == 0)
        return MEDLEY_OK;
    const size_t size = strlen(*value) + strlen(found) + 1;
    char **kept = realloc(arguments->kept, (arguments->kept_count + 1) * sizeof *arguments->kept);
    char *text = malloc(size);
    if (kept != NULL)
        arguments->kept = kept;
    if (kept == NULL || text == NULL) {
        free(text);
        return cli_error(error, MEDLEY_FAILED, "out of memory");
    }
    snprintf(text, size, "%.*s%s%s", (int)place.first, *value, found,
             *value + place.first + place.length);
    *value = arguments->kept[arguments->kept_count++] = text;
    return MEDLEY_OK;
}

/* What this rank is not to write goes nowhere. A checkpoint is written by the library, which knows
 * ranks, and read by all. */
static medley_status share_option(cli_arguments *arguments, struct cli_given *given,
                                  medley_error *error)
{
    const bool writes_model = (arguments->command->groups & CLI_TRAINING) != 0;
    const bool is_model = strcmp(given->name, "model") == 0;
    if (cli_is_any(given->name, read_options) || (is_model && !writes_model))
        return share_file(arguments, &given->value, error);
    if (strcmp(given->name, "checkpoint") == 0 && cli_flag(arguments, "resume"))
        return share_file(arguments, &given->value, error);
    if (medley_comm_rank(arguments->comm) > 0 &&
        (is_model || strcmp(given->name, "output") == 0 || strcmp(given->name, "report") == 0))
        given->value = "/dev/null";
    return MEDLEY_OK;
}

/* Where there is no comm, each process would say the same: only the first one does. */
static bool is_another_rank(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *rank = getenv(variables[i]);
        if (rank != NULL && strcmp(rank, "0") != 0)
            return true;
    }
    return false;
}

medley_status cli_find_ranks(cli_arguments *arguments, medley_error *error)
{
    const medley_status status = medley_comm_open(&arguments->comm, NULL, error);
    arguments->silent = status < 0 && is_another_rank();
    return status;
}

medley_status cli_join_ranks(cli_arguments *arguments, medley_error *error)
{
    if (arguments->comm == NULL)
        return MEDLEY_OK;
    for (size_t g = 0; g < arguments->given_count; g++)
        CLI_TRY(share_option(arguments, &arguments->given[g], error));
    for (size_t i = 0; i < arguments->word_count; i++)
        CLI_TRY(share_file(arguments, &arguments->words[i], error));
    if (medley_comm_rank(arguments->comm) == 0)
        return MEDLEY_OK;
    arguments->quiet = true;
    if (freopen("/dev/null", "w", stdout) == NULL)
        return cli_error(error, MEDLEY_FAILED, "cannot open /dev/null");
    return MEDLEY_OK;
}

bool cli_settle_ranks(cli_arguments *arguments, medley_status status)
{
    size_t teller;
    if (arguments->comm == NULL)
        return status < 0 && !arguments->silent;
    const size_t rank = medley_comm_rank(arguments->comm);
    arguments->alone = !medley_comm_settle(&teller, arguments->comm, status);
    return status < 0 && (arguments->alone || teller == rank);
}

static medley_comm_counts count(const medley_comm *comm)
{
    medley_comm_counts counts = MEDLEY_COMM_COUNTS_INIT;
    if (medley_comm_count(&counts, comm, NULL) < 0)
        counts = (medley_comm_counts)MEDLEY_COMM_COUNTS_INIT;
    return counts;
}

void cli_json_ranks(const medley_comm *comm)
{
    const medley_comm_counts counts = count(comm);
    json_count(stdout, "ranks", medley_comm_size(comm));
    if (medley_comm_size(comm) == 1)
        return;
    json_open(stdout, "comm", '{');
    json_count(stdout, "calls", counts.calls);
    json_number(stdout, "bytes_sent", counts.bytes_sent);
    json_number(stdout, "bytes_gotten", counts.bytes_gotten);
    json_number(stdout, "seconds", counts.seconds);
    json_number(stdout, "work", counts.work);
    json_close(stdout, '}');
}

void cli_print_ranks(const medley_comm *comm)
{
    const medley_comm_counts counts = count(comm);
    if (medley_comm_size(comm) > 1)
        printf("%zu ranks; rank 0 sent %.1f MB and got %.1f MB in %zu exchanges, %.2f s with "
               "waiting\n",
               medley_comm_size(comm), 1e-6 * counts.bytes_sent, 1e-6 * counts.bytes_gotten,
               counts.calls, counts.seconds);
}

void cli_leave_ranks(cli_arguments *arguments, int code)
{
    if (arguments->alone) {
        fflush(stdout);
        medley_comm_end(arguments->comm, code);
    }
    medley_comm_free(arguments->comm);
    for (size_t i = 0; i < arguments->kept_count; i++)
        free(arguments->kept[i]);
    free(arguments->kept);
}
