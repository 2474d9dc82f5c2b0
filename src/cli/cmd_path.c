/* SPDX-License-Identifier: BSD-3-Clause */
/* medley path: models from a strong to a weak penalty, each started from the one before. */
#include "cli.h"
#include "path_table.h"
#include "report_name.h"
#include "report_output.h"
#include "writable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct run {
    medley_dataset *train, *held_out;
    medley_options *options;
    medley_path_options how;
    double *lambda; /* [how.count], or NULL: automatic */
    medley_path *path;
    medley_model *model; /* the best so far; NULL: nobody wants it */
    bool wants_model;
    double seconds_read, seconds_total;
    bool interrupted;
};

static void clear(struct run *run)
{
    medley_dataset_free(run->train);
    medley_dataset_free(run->held_out);
    medley_options_free(run->options);
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
static bool read_lambdas(const cli_arguments *arguments, const char *text, struct run *run)
{
    size_t most = 1;
    for (const char *p = text; *p != '\0'; p++)
        most += *p == ',';
    run->lambda = calloc(most, sizeof *run->lambda);
    run->how.count = 0;
    for (const char *p = text; run->lambda != NULL;) {
        char *end;
        const double lambda = strtod(p, &end);
        if (end == p || (*end != ',' && *end != '\0') || !(lambda > 0 && lambda < 1e300))
            return cli_refuse(arguments,
                              "--lambdas='%s': '%.*s' is not a number above 0; write them with "
                              "commas between them, as in 1,0.1,0.01",
                              text, (int)strcspn(p, ","), p);
        run->lambda[run->how.count++] = lambda;
        if (*end == '\0')
            break;
        p = end + 1;
    }
    if (run->lambda == NULL)
        return false;
    qsort(run->lambda, run->how.count, sizeof *run->lambda, compare_falling);
    run->how.lambda = run->lambda;
    return true;
}

static bool read_grid(const cli_arguments *arguments, struct run *run)
{
    const char *list = cli_value(arguments, "lambdas");
    const char *ratio = cli_value(arguments, "ratio");
    run->how = (medley_path_options)MEDLEY_PATH_OPTIONS_INIT;
    if (!cli_count(arguments, "count", run->how.count, &run->how.count))
        return false;
    if (list != NULL && (ratio != NULL || cli_value(arguments, "count") != NULL))
        return cli_refuse(arguments, "--lambdas says where the path goes; leave out --count and "
                                     "--ratio");
    if (list != NULL)
        return read_lambdas(arguments, list, run);
    char *end = NULL;
    run->how.ratio = ratio != NULL ? strtod(ratio, &end) : run->how.ratio;
    if ((ratio != NULL && (end == ratio || *end != '\0')) ||
        !(run->how.ratio > 0 && run->how.ratio < 1))
        return cli_refuse(arguments, "--ratio='%s' is not a number between 0 and 1, such as 0.01",
                          ratio);
    if (run->how.count == 0)
        cli_usage_error(arguments, "--count 0 is no path; give a number above 0");
    return run->how.count > 0;
}

/* Is this how the name of a file ends? */
static bool ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path);
    return length > strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0;
}

/* The exit code if they are wrong, else CLI_OK. */
static int check_arguments(const cli_arguments *arguments)
{
    static const char *const strengths[] = {"lambda", "C", "spicy-C"};
    medley_error error = {0};
    const char *output = cli_value(arguments, "output");
    for (size_t i = 0; i < sizeof strengths / sizeof *strengths; i++)
        if (cli_value(arguments, strengths[i]) != NULL)
            return cli_usage_error(
                arguments, "--%s is what varies along a path; leave it out, or say --lambdas",
                strengths[i]);
    if (cli_value(arguments, "holdout") != NULL && cli_value(arguments, "dev") != NULL)
        return cli_usage_error(arguments,
                               "--holdout and --dev both say what is held out; give one");
    if (output != NULL && !ends_with(output, ".csv") && !ends_with(output, ".json"))
        return cli_usage_error(arguments, "--output '%s': name a file that ends in .csv or .json",
                               output);
    if (!cli_check_outputs(arguments))
        return CLI_USAGE;
    return cli_can_write_all(arguments, false, &error) ? CLI_OK : cli_fail(arguments, &error);
}

/* ---- the walk ---- */

/* Keeps the best model only. */
static bool keep(void *context, medley_model *model)
{
    struct run *run = context;
    if (run->wants_model && cli_path_best(run->path) + 1 == run->path->point_count) {
        medley_model_free(run->model);
        run->model = model;
    } else {
        medley_model_free(model);
    }
    return true;
}

static medley_status walk(const cli_arguments *arguments, struct run *run, medley_error *error)
{
    cli_progress progress;
    const medley_observer observer = cli_observe(&progress, arguments);
    const medley_status status =
        medley_trace_path(&run->path, run->train, run->held_out, run->options, &run->how, keep, run,
                          &observer, error);
    cli_progress_end(&progress);
    run->interrupted = status == MEDLEY_STOPPED;
    if (run->interrupted && run->path->point_count == 0)
        return cli_error(error, MEDLEY_FAILED, "interrupted before the first model was learnt");
    return status;
}

/* Was there a path with a certificate? Who has not named a method may not know. */
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

/* ---- files ---- */

/* The JSON object as a text, since it may go to a file and to standard output. */
static char *json_text(const struct run *run)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        return NULL;
    json_open(file, NULL, '{');
    cli_json_path(file, run->path);
    json_count(file, "best", cli_path_best(run->path));
    json_open(file, "seconds", '{');
    json_number(file, "read", run->seconds_read);
    json_number(file, "total", run->seconds_total);
    json_close(file, '}');
    json_bool(file, "interrupted", run->interrupted);
    json_end(file);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

static medley_status write_table(const struct run *run, const char *path, const char *json,
                                 medley_error *error)
{
    FILE *file = fopen(path, "w");
    const bool written = file != NULL && (ends_with(path, ".json") ? fputs(json, file) >= 0
                                                                   : cli_csv_path(file, run->path));
    if (file != NULL && fclose(file) == 0 && written)
        return MEDLEY_OK;
    snprintf(error->file, sizeof error->file, "%s", path);
    return cli_error(error, MEDLEY_FAILED, "the table cannot be written; is the disk full?");
}

static medley_status write_report(const cli_arguments *arguments, const struct run *run,
                                  const char *path, medley_error *error)
{
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    const char *dev = cli_value(arguments, "dev");
    char name[CLI_NAME_BYTES];
    options.path = run->path;
    options.data = run->held_out;
    options.data_name = dev != NULL             ? cli_report_name(name, dev)
                        : run->held_out != NULL ? "the held-out rows"
                                                : NULL;
    options.data_chose = run->held_out != NULL;
    options.threads = cli_threads(arguments);
    return medley_report_write(run->model, path, &options, error);
}

static medley_status write_files(const cli_arguments *arguments, const struct run *run,
                                 const char *json, medley_error *error)
{
    const char *model = cli_value(arguments, "model");
    const char *table = cli_value(arguments, "output");
    const char *report = cli_value(arguments, "report");
    medley_status status = MEDLEY_OK;
    if (table != NULL)
        status = write_table(run, table, json, error);
    if (status >= 0 && model != NULL)
        status = medley_model_save(run->model, model, error);
    if (status >= 0 && report != NULL)
        status = write_report(arguments, run, report, error);
    return status;
}

/* ---- the command ---- */

static void print_text(const cli_arguments *arguments, const struct run *run)
{
    const medley_path *path = run->path;
    const size_t best = cli_path_best(path);
    const char *const files[][2] = {{"output", "table"}, {"report", "report"}};
    cli_print_path(stdout, path, best);
    printf("\nread %.2f s, path %.2f s%s\n", run->seconds_read,
           path->points[path->point_count - 1].seconds,
           run->interrupted ? "; it was interrupted" : "");
    if (cli_value(arguments, "model") != NULL)
        printf("the model at lambda %.4g written to %s\n", path->points[best].lambda,
               cli_value(arguments, "model"));
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        if (cli_value(arguments, files[f][0]) != NULL)
            printf("%s written to %s\n", files[f][1], cli_value(arguments, files[f][0]));
}

static int run_path(cli_arguments *arguments)
{
    medley_error error = {0};
    struct run run = {0};
    char *json = NULL;
    int code = check_arguments(arguments);
    if (code != CLI_OK)
        return code;
    if (!read_grid(arguments, &run)) {
        clear(&run);
        return CLI_USAGE;
    }
    const double start = cli_clock();
    cli_catch_interrupt();
    run.wants_model = cli_value(arguments, "model") != NULL || cli_value(arguments, "report");
    medley_status status = cli_load_training(arguments, &run.options, &run.train, &run.held_out,
                                             &run.held_out, &run.seconds_read, &error);
    if (status >= 0)
        status = walk(arguments, &run, &error);
    run.seconds_total = cli_clock() - start;
    if (status >= 0 && (json = json_text(&run)) == NULL)
        status = cli_error(&error, MEDLEY_FAILED, "out of memory");
    if (status >= 0) {
        tell_of_method(arguments, run.path);
        status = write_files(arguments, &run, json, &error);
    }
    if (status < 0)
        code = cli_fail(arguments, &error);
    else if (arguments->json)
        fputs(json, stdout);
    else
        print_text(arguments, &run);
    code = run.interrupted ? CLI_INTERRUPTED : code;
    free(json);
    clear(&run);
    return code;
}

static const cli_option options[] = {
    {"count", "N", "20", "so many lambdas, evenly in logarithm", false},
    {"ratio", "X", "0.01", "the last lambda as a share of the first", false},
    {"lambdas", "LIST", "", "these lambdas instead, between commas", false},
    {"holdout", "SHARE", "", "keep this share of the rows apart and measure every model on them",
     false},
    {"dev", "FILE", "", "labelled data to measure every model on", false},
    {"output", "FILE.csv|.json", "", "write the path with the weights of all blocks", false},
    {"report", "FILE.html", "", "write a report that draws the path", false},
    {"model", "FILE", "",
     "write the model that does best on the held-out rows; without them the last", false},
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

extern const cli_command cli_command_path;
const cli_command cli_command_path = {
    .name = "path",
    .usage = "[--count N] [--ratio X] [--holdout SHARE] [options] DATA",
    .summary = "models from a strong to a weak penalty: which blocks come in when",
    .description =
        "Learns a model for each of a series of lambdas, from strong to weak, on kernels and "
        "features that are made once. Each model sets out from the one before. The first lambda is "
        "the least that leaves out all blocks; penalties that never do (mkl, l2, block, "
        "squared-block) start where about a quarter of the loss can be gained. Method spicy, "
        "for two labels or numbers, gives the optimum of every lambda with its gap; spom, obscure "
        "and pegasos come near it, with half the epochs of a training from nothing. Methods "
        "average, best, svm and lp-beta have no path. The table shows how many blocks are active "
        "and, with --holdout or --dev, how well the models do: rmse of numbers, f1 where labels "
        "are those of chunks, las or uas of trees, else accuracy. "
        "Ctrl-C shows the path as far as it went.",
    .options = options,
    .groups = CLI_TRAINING | CLI_DATA | CLI_ROWS | CLI_RUN,
    .examples = examples,
    .run = run_path,
};
