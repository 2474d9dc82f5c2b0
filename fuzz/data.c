/* SPDX-License-Identifier: BSD-3-Clause */
/* Small data that models can be used with, and options that cost little. */
#include "fuzz.h"

static const struct sample {
    const char *name, *text;
} samples[FUZZ_KINDS] = {
    [FUZZ_DENSE] = {"dense.csv", "x,y,z,label\n"
                                 "1,0,0.5,no\n0,1,0.25,yes\n1,0.1,3,no\n0.2,1,-1,yes\n"
                                 "0.9,0.2,1,no\n-1,2,0,yes\n0.5,-0.5,2,maybe\n0,0.4,1,maybe\n"},
    [FUZZ_SPARSE] = {"sparse.svmlight", "no 1:1 3:0.5\nyes 2:1 3:0.25\nno 1:1 2:0.1 3:3\n"
                                        "yes 1:0.2 2:1\nno\nyes 2:2\nno 1:0.5\nyes 3:1 9:2\n"},
    [FUZZ_IMAGES] = {"images.csv",
                     "1,0,0,2,0,3,1,0,0,1,3,0,2,0,0,1,a\n0,1,2,0,1,0,0,2,2,0,0,1,0,1,1,0,b\n"
                     "1,0,1,2,0,3,1,0,0,2,3,0,2,0,0,1,a\n0,1,2,0,1,0,1,2,2,0,0,1,0,2,1,0,b\n"},
    [FUZZ_NAMED] = {"named.crfsuite", "B\tw=the\tp=DT\nI\tw=dog\tp=NN:2\nO\tw=.\n\n"
                                      "B\tw=a\tp=DT\nI\tw=cat\nO\tw=.\n\nB\tw=the\n\n"},
    [FUZZ_WORDS] = {"words.txt", "the DT B-NP\ndog NN I-NP\nruns VB B-VP\n. . O\n\n"
                                 "a DT B-NP\nbig JJ I-NP\ncat NN I-NP\n\nrun VB B-VP\n\n"},
    [FUZZ_TREES] = {"trees.conllu", "1\tthe\tthe\tDET\tDT\tA=B\t2\tdet\t_\t_\n"
                                    "2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n"
                                    "3\truns\trun\tVERB\tVB\t_\t0\troot\t_\t_\n"
                                    "4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_\n\n"
                                    "1\trun\trun\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
                                    "1\ta\ta\tDET\tDT\t_\t2\tdet\t_\t_\n"
                                    "2\tcat\tcat\tNOUN\tNN\tC=D|E=F\t0\troot\t_\t_\n\n"},
    [FUZZ_NUMBERS] = {"numbers.csv", "x,y,z,label\n1,0,0.5,1.5\n0,1,0.25,-2\n1,0.1,3,4\n"
                                     "0.2,1,-1,0\n0.9,0.2,1,1\n-1,2,0,-3\n0.5,-0.5,2,2.5\n"},
};

/* K(x, z) = 1 / (1 + |x - z|) and 1 + x z of the rows' numbers, which are kernels. */
static void put_grams(medley_dataset *dataset, medley_error *error)
{
    enum { ROWS = 8 };
    double values[2][ROWS][ROWS];
    double diagonal[2][ROWS];
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++) {
            values[0][i][j] = 1.0 / (1 + abs(i - j));
            values[1][i][j] = 1.0 + i * j / 8.0;
        }
        diagonal[0][i] = values[0][i][i];
        diagonal[1][i] = values[1][i][i];
    }
    static const char *const names[] = {"near", "product"};
    for (int k = 0; k < 2; k++) {
        medley_table table = MEDLEY_TABLE_INIT;
        table.name = names[k];
        table.rows = table.columns = ROWS;
        table.values = values[k];
        FUZZ_REQUIRE(medley_dataset_put_gram(dataset, &table, diagonal[k], error) == MEDLEY_OK);
    }
    static const char *const labels[] = {"low", "high"};
    static const int32_t label[ROWS] = {0, 0, 0, 0, 1, 1, 1, 1};
    FUZZ_REQUIRE(medley_dataset_put_labels(dataset, label, ROWS, labels, 2, error) == MEDLEY_OK);
}

static medley_dataset *make(fuzz_kind kind)
{
    const struct sample *sample = &samples[kind];
    medley_dataset *dataset = NULL;
    medley_error error;
    if (sample->text == NULL) {
        FUZZ_REQUIRE(medley_dataset_create(&dataset, &error) == MEDLEY_OK);
        put_grams(dataset, &error);
        return dataset;
    }
    fuzz_must(medley_dataset_parse(&dataset, sample->text, strlen(sample->text), sample->name, NULL,
                                   &error),
              &error);
    return dataset;
}

const medley_dataset *fuzz_data(fuzz_kind kind)
{
    static medley_dataset *made[FUZZ_KINDS];
    if (made[kind] == NULL) {
        const fuzz_failing before = fuzz_pause();
        made[kind] = make(kind);
        fuzz_resume(before);
    }
    return made[kind];
}

/* ---- options ---- */

bool fuzz_allows(const char *name, const char *value)
{
    static const char *const kept_back[] = {"from",   "checkpoint", "resume", "kernels",
                                            "memory", "threads",    NULL};
    for (size_t i = 0; kept_back[i] != NULL; i++)
        if (strcmp(name, kept_back[i]) == 0)
            return false;
    if (strcmp(name, "template") == 0)
        return strncmp(value, "built-in:", 9) == 0;
    return strcmp(name, "hash-bits") != 0 || strtod(value, NULL) <= 10;
}

static bool set(medley_options *options, const char *name, const char *value)
{
    medley_error error;
    return fuzz_worked(medley_options_set(options, name, value, &error), &error);
}

static bool set_line(medley_options *options, char *line)
{
    char *equals = strchr(line, '=');
    if (equals == NULL)
        return set(options, line, "");
    *equals = '\0';
    return !fuzz_allows(line, equals + 1) || set(options, line, equals + 1);
}

medley_options *fuzz_options(fuzz_input *input)
{
    medley_options *options = NULL;
    medley_error error;
    if (!fuzz_worked(medley_options_create(&options, &error), &error))
        return NULL;
    bool good = set(options, "threads", "1") && set(options, "memory", "16M");
    for (char *line; good && (line = fuzz_line(input)) != NULL; free(line)) {
        if (line[0] == '\0') {
            free(line);
            break;
        }
        good = set_line(options, line);
    }
    if (good)
        return options;
    medley_options_free(options);
    return NULL;
}

static bool watch_step(void *context, const medley_progress *progress)
{
    fuzz_watch *watch = context;
    (void)progress;
    watch->left -= watch->left > 0;
    return watch->left > 0;
}

void fuzz_watch_start(fuzz_watch *watch)
{
    enum { STEPS = 12 };
    *watch = (fuzz_watch){MEDLEY_OBSERVER_INIT, STEPS};
    watch->observer.context = watch;
    watch->observer.progress = watch_step;
}
