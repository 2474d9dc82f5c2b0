/* SPDX-License-Identifier: BSD-3-Clause */
/* medley path: models from a strong to a weak penalty, each started from the one before. */
#include "cli.h"

struct run {
    cli_training given;
    const medley_dataset *measured; /* --dev or the rows of --holdout; NULL: none */
    medley_path_options how;
    double *lambda; /* [how.count], or NULL: automatic */
    medley_path *path;
    medley_model *model; /* the best so far; NULL: no option asks for it */
    cli_device device;   /* of the last one */
    bool wants_model, interrupted;
    double seconds_total;
};

static void clear(struct run *run)
{
    cli_training_clear(&run->given);
    free(run->lambda);
    medley_path_free(run->path);
    medley_model_free(run->model);
}

/* ---- options ---- */

static int compare_falling(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Numbers between commas, in any order: they are brought from strong to weak. */
static medley_status read_lambdas(const char *text, struct run *run, medley_error *error)
{
    size_t most = 1;
    for (const char *p = text; *p != '\0'; p++)
        most += *p == ',';
    run->lambda = calloc(most, sizeof *run->lambda);
    run->how.count = 0;
    if (run->lambda == NULL)
        return cli_error(error, MEDLEY_FAILED, "out of memory");
    for (const char *p = text;;) {
        char *end;
        const double lambda = strtod(p, &end);
        if (end == p || (*end != ',' && *end != '\0') || !(lambda > 0 && lambda < 1e300))
            return cli_refuse(error,
                              "--lambdas='%s': '%.*s' is not a number above 0; write them with "
                              "commas between them, as in 1,0.1,0.01",
                              text, (int)strcspn(p, ","), p);
        run->lambda[run->how.count++] = lambda;
        if (*end == '\0')
            break;
        p = end + 1;
    }
    qsort(run->lambda, run->how.count, sizeof *run->lambda, compare_falling);
    run->how.lambda = run->lambda;
    return MEDLEY_OK;
}

static medley_status read_grid(const cli_arguments *arguments, struct run *run, medley_error *error)
{
    const char *list = cli_value(arguments, "lambdas");
    const char *ratio = cli_value(arguments, "ratio");
    CLI_TRY(cli_count(arguments, "count", &run->how.count, error));
    if (list != NULL && (ratio != NULL || cli_value(arguments, "count") != NULL))
        return cli_refuse(error,
                          "--lambdas says where the path goes; leave out --count and --ratio");
    if (list != NULL)
        return read_lambdas(list, run, error);
    if (ratio != NULL &&
        (!cli_read_number(ratio, &run->how.ratio) || !(run->how.ratio > 0 && run->how.ratio < 1)))
        return cli_refuse(error, "--ratio='%s' is not a number between 0 and 1, such as 0.01",
                          ratio);
    if (run->how.count == 0)
        return cli_refuse(error, "--count must be at least 1");
    return MEDLEY_OK;
}

static bool ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path);
    return length > strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0;
}

static medley_status check_arguments(const cli_arguments *arguments, medley_error *error)
{
    static const char *const strengths[] = {"lambda", "C", "spicy-C"};
    const char *output = cli_value(arguments, "output");
    for (size_t i = 0; i < sizeof strengths / sizeof *strengths; i++)
        if (cli_value(arguments, strengths[i]) != NULL)
            return cli_refuse(error,
                              "--%s is what varies along a path; leave it out, or say --lambdas",
                              strengths[i]);
    if (cli_value(arguments, "holdout") != NULL && cli_value(arguments, "dev") != NULL)
        return cli_refuse(error, "--holdout and --dev both say what is held out; give one");
    if (output != NULL && !ends_with(output, ".csv") && !ends_with(output, ".json"))
        return cli_refuse(error, "--output '%s': name a file that ends in .csv or .json", output);
    return cli_check_writable(arguments, error);
}

/* ---- the walk ---- */

/* Keeps the best model only. */
static bool keep(void *context, medley_model *model)
{
    struct run *run = context;
    run->device = cli_device_of(model);
    if (run->wants_model && cli_path_best(run->path) + 1 == run->path->point_count) {
        medley_model_free(run->model);
        run->model = model;
    } else {
        medley_model_free(model);
    }
    return true;
}

static medley_status walk(cli_arguments *arguments, struct run *run, medley_error *error)
{
    cli_progress progress;
    const medley_observer observer = cli_observe(&progress, arguments);
    const medley_status status =
        medley_trace_path(&run->path, run->given.train, run->measured, run->given.options,
                          &run->how, keep, run, &observer, error);
    cli_progress_end(&progress);
    run->interrupted = arguments->interrupted = status == MEDLEY_STOPPED;
    if (run->interrupted && run->path->point_count == 0)
        return cli_error(error, MEDLEY_FAILED, "interrupted before the first model was learnt");
    return status;
}

/* Without --method a path may or may not have certificates: says why it has none. */
static void tell_of_method(const cli_arguments *arguments, const medley_path *path)
{
    const char *method = cli_value(arguments, "method");
    const bool named = method != NULL && strcmp(method, "auto") != 0;
    const medley_task_info *task = medley_task_about(path->task);
    if (named || arguments->quiet || task == NULL || !task->has_certificate ||
        !isnan(path->points[0].gap))
        return;
    fprintf(stderr,
            "the path is that of method %s, which comes near the optimum without a certificate; "
            "penalty %s, the size of the data or other options rule out method spicy, which has "
            "one for group-lasso, elastic(t), block(q) and l2\n",
            path->method, path->penalty);
}

/* ---- results ---- */

static void print_json(FILE *file, const void *context)
{
    const struct run *run = context;
    json_open(file, NULL, '{');
    cli_json_path(file, run->path);
    json_count(file, "best", cli_path_best(run->path));
    cli_json_device(file, &run->device);
    json_open(file, "seconds", '{');
    json_number(file, "read", run->given.seconds_read);
    json_number(file, "total", run->seconds_total);
    json_close(file, '}');
    json_bool(file, "interrupted", run->interrupted);
    cli_json_warning(file, run->given.warning);
    json_end(file);
}

static medley_status write_report(const cli_arguments *arguments, const struct run *run,
                                  const char *path, medley_error *error)
{
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    CLI_CLEARED(cli_provenance_clear) cli_provenance provenance = {0};
    const char *dev = cli_value(arguments, "dev");
    char name[CLI_NAME_BYTES];
    options.path = run->path;
    options.data = run->measured;
    options.data_name = dev != NULL             ? cli_report_name(name, dev)
                        : run->measured != NULL ? cli_held_out_name(name, arguments)
                                                : cli_data_name(name, arguments);
    options.data_chose = run->measured != NULL;
    options.threads = cli_threads(arguments);
    CLI_TRY(cli_tell_provenance(&options, &provenance, arguments, NULL, error));
    return medley_report_write(run->model, path, &options, error);
}

static medley_status write_files(const cli_arguments *arguments, const struct run *run,
                                 medley_error *error)
{
    const char *model = cli_value(arguments, "model");
    const char *table = cli_value(arguments, "output");
    const char *report = cli_value(arguments, "report");
    if (table != NULL && ends_with(table, ".json"))
        CLI_TRY(cli_write_text(table, print_json, run, error));
    else if (table != NULL)
        CLI_TRY(cli_write_text(table, cli_csv_path, run->path, error));
    if (model != NULL)
        CLI_TRY(medley_model_save(run->model, model, error));
    return report != NULL ? write_report(arguments, run, report, error) : MEDLEY_OK;
}

static void print_text(const cli_arguments *arguments, const struct run *run)
{
    const medley_path *path = run->path;
    const size_t best = cli_path_best(path);
    static const char *const files[][2] = {{"output", "table"}, {"report", "report"}};
    cli_print_path(stdout, path, best);
    printf("\nread %.2f s, path %.2f s%s\n", run->given.seconds_read,
           path->points[path->point_count - 1].seconds,
           run->interrupted ? "; it was interrupted" : "");
    cli_print_device(&run->device);
    if (cli_value(arguments, "model") != NULL)
        printf("the model at lambda %.4g written to %s\n", path->points[best].lambda,
               cli_value(arguments, "model"));
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        if (cli_value(arguments, files[f][0]) != NULL)
            printf("%s written to %s\n", files[f][1], cli_value(arguments, files[f][0]));
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyser does not follow cleanup */
static medley_status run_path(cli_arguments *arguments, medley_error *error)
{
    CLI_CLEARED(clear) struct run run = {.how = MEDLEY_PATH_OPTIONS_INIT};
    CLI_TRY(check_arguments(arguments, error));
    CLI_TRY(read_grid(arguments, &run, error));
    const double start = cli_clock();
    cli_catch_interrupt(arguments);
    run.wants_model = cli_value(arguments, "model") != NULL || cli_value(arguments, "report");
    CLI_TRY(cli_load_training(arguments, &run.given, error));
    run.measured = run.given.dev != NULL ? run.given.dev : run.given.held_out;
    CLI_TRY(walk(arguments, &run, error));
    run.seconds_total = cli_clock() - start;
    tell_of_method(arguments, run.path);
    CLI_TRY(write_files(arguments, &run, error));
    if (arguments->json)
        print_json(stdout, &run);
    else if (!cli_is_silent(arguments))
        print_text(arguments, &run);
    return MEDLEY_OK;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

static const cli_option options[] = {
    {"count", "N", "20", "number of lambdas, evenly spaced in logarithm; at most 10000",
     .group = "path"},
    {"ratio", "X", "0.01", "the last lambda as a share of the first", .group = "path"},
    {"lambdas", "LIST", "", "these lambdas instead, between commas", .group = "path"},
    {"holdout", "SHARE", "", "keep this share of the rows apart and measure every model on them",
     .group = "data"},
    {"dev", "FILE", "", "labelled data to measure every model on", .group = "data"},
    {"output", "FILE.csv|.json", "", "write the path with the weights of all blocks",
     .group = "output"},
    {"report", "FILE.html", "", "write a report that draws the path", .group = "output"},
    {"model", "FILE", "",
     "write the model that does best on the held-out rows; without them the last",
     .group = "output"},
    {0}};

static const char *const examples[] = {
    "which kernels come in as the penalty weakens?",
    "medley path --views all+each --kernel rbf --scale standard sonar.csv.gz",
    "how far is it worth going? keep the best model and draw the path",
    "medley path --holdout 0.2 --model m.medley --report path.html sonar.csv.gz",
    "a longer and finer path of another penalty, as a table",
    "medley path --penalty 'elastic(t=0.5)' --count 50 --ratio 0.0001 --output path.csv data.csv",
    "these lambdas, one JSON object",
    "medley path --lambdas 0.1,0.03,0.01 --json data.csv",
    "templates of tagged words, measured on other sentences by the F1 of chunks",
    "medley path --template chunk --penalty group-lasso --dev dev.txt train.txt",
    NULL};

const cli_command cli_command_path = {
    .name = "path",
    .usage = "[--count N] [--holdout SHARE] [options] DATA [MODEL.medley]",
    .summary = "models from a strong to a weak penalty: which blocks come in when",
    .description =
        "Learns a model for each of a series of lambdas, from strong to weak, on kernels and "
        "features that are made once. Each model sets out from the one before. The first lambda is "
        "the least that leaves out all blocks; penalties that never do (mkl, l2, block, "
        "squared-block) start where about a quarter of the loss can be gained. Method spicy, "
        "for two labels or a regression, gives the optimum of every lambda with its gap; spom, "
        "obscure "
        "and pegasos come near it, with half the epochs of a training from nothing. Methods "
        "average, best, svm and lp-beta have no path. The table shows how many blocks are active "
        "and, with --holdout or --dev, how well the models do: rmse of a regression, f1 where "
        "labels are those of chunks, las or uas of trees, else accuracy. "
        "Ctrl-C shows the path as far as it went.",
    .options = options,
    .groups = CLI_TRAINING | CLI_DATA | CLI_ROWS | CLI_RUN,
    .model = CLI_WRITES_MODEL,
    .together = true,
    .examples = examples,
    .run = run_path,
};
