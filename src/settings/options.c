/* SPDX-License-Identifier: BSD-3-Clause */
/* The one table of training options: names, defaults, ranges and help for the command line, the
 * manual, completion and bindings. */
#include "settings/options.h"

#include "base/memory.h"
#include "gram/bank.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const roots_names[] = {"one", "many", NULL};
static const char *const storage_names[] = {"float32", "float64", NULL};
static const char *const bigram_names[] = {"auto", "fixed", "learned", "none", NULL};
static const char *const schedule_names[] = {"auto", "sqrt", "epoch", "inverse", "constant", NULL};

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)
#define FIELD(name)     offsetof(struct medley_options, name)

const md_param md_option_table[] = {
    {.name = "task",
     .type = MD_CHOICE,
     .offset = FIELD(task),
     .fallback = "auto",
     .choices = md_task_names,
     .argument = "auto|binary|regression|multiclass|chain|tree",
     .help = "what is predicted; auto: dependency trees (tree) of CoNLL-U files without chain "
             "templates, sequences of labels (chain) where the data have sequences, else one label "
             "per row; regression: numbers"},
    {.name = "method",
     .type = MD_STRING,
     .offset = FIELD(method),
     .fallback = "auto",
     .argument = "NAME",
     .help = "how it is learnt (medley list methods); auto: spicy for two labels or numbers and up "
             "to 5000 rows, unless other options speak of online learning; else spom"},
    {.name = "loss",
     .type = MD_STRING,
     .offset = FIELD(loss),
     .fallback = "auto",
     .argument = "NAME",
     .help = "hinge, logistic, softmax-margin (online methods), squared or epsilon(0.1) (numbers); "
             "auto: hinge, for numbers squared (medley list losses)"},
    {.name = "penalty",
     .type = MD_STRING,
     .offset = FIELD(penalty),
     .fallback = "auto",
     .argument = "NAME",
     .help = "what keeps blocks small or out, terms joined by '+' (medley list penalties); auto: "
             "mkl, of method spicy group-lasso"},
    {.name = "lambda",
     .type = MD_DOUBLE,
     .offset = FIELD(lambda),
     .fallback = "",
     .least = 1e-300,
     .most = 1e300,
     .argument = "X",
     .help = "strength of the penalty in mean loss + lambda Omega"},
    {.name = "C",
     .type = MD_DOUBLE,
     .offset = FIELD(C),
     .fallback = "",
     .least = 1e-300,
     .most = 1e300,
     .argument = "X",
     .help = "the same as 1/(lambda N), large is weak; default 10, of methods obscure and pegasos "
             "1, of trees 3"},
    {.name = "spicy-C",
     .type = MD_DOUBLE,
     .offset = FIELD(spicy_C),
     .fallback = "",
     .least = 1e-300,
     .most = 1e300,
     .argument = "X",
     .help = "the same as lambda N, large is strong; default of method spicy: a tenth of the "
             "least value that leaves out all kernels"},
    {.name = "gap",
     .type = MD_DOUBLE,
     .offset = FIELD(gap),
     .fallback = "0.01",
     .least = 1e-12,
     .most = 1,
     .argument = "X",
     .help =
         "methods with a certificate (spicy ...): stop at this relative gap, (objective - dual) / "
         "objective"},
    {.name = "max-iter",
     .type = MD_INT,
     .offset = FIELD(max_iterations),
     .fallback = "500",
     .least = 1,
     .most = 1e9,
     .argument = "N",
     .help = "methods with a certificate: stop after so many outer iterations even so"},
    {.name = "storage",
     .type = MD_CHOICE,
     .offset = FIELD(storage),
     .fallback = "float32",
     .choices = storage_names,
     .argument = "float32|float64",
     .help =
         "methods with a certificate: how kernel values are kept; those computed from data have "
         "single precision either way"},
    {.name = "ridge",
     .type = MD_DOUBLE,
     .offset = FIELD(ridge),
     .fallback = "0",
     .least = 0,
     .most = 1e6,
     .argument = "X",
     .help =
         "methods with a certificate: add X times the mean of its diagonal to the diagonal of each "
         "kernel"},
    {.name = "epochs",
     .type = MD_INT,
     .offset = FIELD(epochs),
     .fallback = "0",
     .least = 0,
     .most = 1e6,
     .argument = "N",
     .help = "passes over the data; 0: 100 with kernels, 12 where all features are explicit, 10 of "
             "trees"},
    {.name = "eta0",
     .type = MD_STRING,
     .offset = FIELD(eta0),
     .fallback = "auto",
     .argument = "X|auto",
     .help = "first learning rate; auto searches on a part of the data, and has a rule for trees"},
    {.name = "schedule",
     .type = MD_CHOICE,
     .offset = FIELD(schedule),
     .fallback = "auto",
     .choices = schedule_names,
     .argument = "auto|sqrt|epoch|inverse|constant",
     .help = "rate at step t: eta0/sqrt(t); eta0/sqrt(1+t/N), which falls by epochs; eta0/(sigma "
             "t) with sigma the strong convexity of lambda times the penalty (eta0/t if it has "
             "none); or eta0. auto: sqrt with kernels, epoch where all features are explicit"},
    {.name = "average",
     .type = MD_FLAG,
     .offset = FIELD(average),
     .fallback = "",
     .argument = "",
     .help = "return the average of the iterates instead of the last"},
    {.name = "average-from",
     .type = MD_DOUBLE,
     .offset = FIELD(average_from),
     .fallback = "0",
     .least = 0,
     .most = 0.999,
     .argument = "SHARE",
     .help = "average only iterates behind this share of the epochs: 0.5 is the second half"},
    {.name = "radius",
     .type = MD_STRING,
     .offset = FIELD(radius),
     .fallback = "auto",
     .argument = "auto|none|X",
     .help = "project onto a ball that contains the optimum (auto), any other, or none"},
    {.name = "p",
     .type = MD_DOUBLE,
     .offset = FIELD(p),
     .fallback = TEXT(MD_DEFAULT_P),
     .least = 1.001,
     .most = 2,
     .argument = "X",
     .help = "methods obscure and pegasos: norm over the blocks; near 1 few of them count, 2 "
             "treats all alike (1 < p <= 2)"},
    {.name = "eta",
     .type = MD_STRING,
     .offset = FIELD(eta),
     .fallback = "auto",
     .argument = "X|auto",
     .help = "method obscure: length of the steps of its first stage; auto: 2 over the largest "
             "K(x,x)"},
    {.name = "epochs1",
     .type = MD_INT,
     .offset = FIELD(epochs1),
     .fallback = TEXT(MD_DEFAULT_EPOCHS1),
     .least = 0,
     .most = 1e6,
     .argument = "N",
     .help = "method obscure: passes of the first, online stage at most"},
    {.name = "epochs2",
     .type = MD_INT,
     .offset = FIELD(epochs2),
     .fallback = TEXT(MD_DEFAULT_EPOCHS2),
     .least = 0,
     .most = 1e6,
     .argument = "N",
     .help = "method obscure: passes of the second, batch stage; 0: the first stage alone"},
    {.name = "patience",
     .type = MD_INT,
     .offset = FIELD(patience),
     .fallback = "5",
     .least = 1,
     .most = 1e6,
     .argument = "N",
     .help = "with held-out data: stop after N epochs without improvement"},
    {.name = "batch",
     .type = MD_INT,
     .offset = FIELD(batch),
     .fallback = "0",
     .least = 0,
     .most = 4096,
     .argument = "N",
     .help = "examples of a round, scored in parallel by the same weights; 0: 1 with kernels, 8 "
             "where all features are explicit, of trees a hundredth of the sentences, at most 32"},
    {.name = "prox-every",
     .type = MD_INT,
     .offset = FIELD(prox_every),
     .fallback = "0",
     .least = 0,
     .most = 1e9,
     .argument = "N",
     .help = "rounds of steps before the penalty shrinks the blocks, as much as it would have in "
             "each: more leave more blocks out; 0: 1, of trees an epoch"},
    {.name = "bigram",
     .type = MD_CHOICE,
     .offset = FIELD(bigram),
     .fallback = "auto",
     .choices = bigram_names,
     .argument = "auto|fixed|learned|none",
     .help = "pairs of neighbouring labels (chains): a block with an l2 term of its own, a block "
             "under the penalty like the others, or none; auto: fixed, or what the B lines of the "
             "templates say"},
    {.name = "bigram-scale",
     .type = MD_DOUBLE,
     .offset = FIELD(bigram_scale),
     .fallback = "1",
     .least = 1e-6,
     .most = 1e6,
     .argument = "X",
     .help = "value of the features of label pairs and triples: larger ones learn faster"},
    {.name = "bigram-ends",
     .type = MD_FLAG,
     .offset = FIELD(bigram_ends),
     .fallback = "",
     .argument = "",
     .help = "the first and the last label of a sequence have features too"},
    {.name = "block-scale",
     .type = MD_LIST,
     .offset = FIELD(block_scale),
     .fallback = "",
     .argument = "NAME=X",
     .help = "multiply the features of a block by X: larger ones learn faster and are penalised "
             "less. NAME is a block's name, or for templates the part before ':'; a '*' at its end "
             "stands for anything"},
    {.name = "order",
     .type = MD_INT,
     .offset = FIELD(order),
     .fallback = "1",
     .least = 1,
     .most = 2,
     .argument = "1|2",
     .help = "chains: 2 adds triples of neighbouring labels"},
    {.name = "template",
     .type = MD_STRING,
     .offset = FIELD(template),
     .fallback = "",
     .argument = "FILE|NAME",
     .help =
         "feature templates for tagged words, as CRF++ and Wapiti have them: every line is a "
         "block; chunk and ud-pos are built in (medley list templates); for trees arc templates, "
         "by default arc-507"},
    {.name = "min-count",
     .type = MD_INT,
     .offset = FIELD(min_count),
     .fallback = "1",
     .least = 1,
     .most = 1e9,
     .argument = "N",
     .help = "leave out features of templates that occur less often"},
    {.name = "hash-bits",
     .type = MD_INT,
     .offset = FIELD(hash_bits),
     .fallback = "0",
     .least = 0,
     .most = 28,
     .argument = "N",
     .help = "hash the features of each template into 2^N slots; 0: a dictionary, for trees 18"},
    {.name = "tags",
     .type = MD_STRING,
     .offset = FIELD(tags),
     .fallback = "",
     .argument = "COLUMN",
     .help = "trees: the column of CoNLL-U whose tags stand for upos in templates, by name or "
             "number; default UPOS"},
    {.name = "roots",
     .type = MD_CHOICE,
     .offset = FIELD(roots),
     .fallback = "one",
     .choices = roots_names,
     .argument = "one|many",
     .help = "trees: how many words of a sentence may hang from the root"},
    {.name = "projective",
     .type = MD_FLAG,
     .offset = FIELD(projective),
     .fallback = "",
     .argument = "",
     .help = "trees: none with crossing arcs are predicted (Eisner's algorithm)"},
    {.name = "unlabelled",
     .type = MD_FLAG,
     .offset = FIELD(unlabelled),
     .fallback = "",
     .argument = "",
     .help = "trees: heads only, no relations"},
    {.name = "from",
     .type = MD_STRING,
     .offset = FIELD(from),
     .fallback = "",
     .argument = "MODEL",
     .help = "an earlier model whose blocks --keep chooses from"},
    {.name = "keep",
     .type = MD_INT,
     .offset = FIELD(keep),
     .fallback = "0",
     .least = 0,
     .most = 1e9,
     .argument = "N",
     .help = "use only the N blocks with the largest weights in the model of --from"},
    {.name = "blocks",
     .type = MD_STRING,
     .offset = FIELD(blocks),
     .fallback = "",
     .argument = "LIST",
     .help = "use only these blocks, by name or the part before ':', separated by commas"},
    {.name = "checkpoint",
     .type = MD_STRING,
     .offset = FIELD(checkpoint),
     .fallback = "",
     .argument = "FILE",
     .help = "write the state of training to FILE after the first and the last epoch and as often "
             "between "
             "as takes a tenth of the time"},
    {.name = "resume",
     .type = MD_FLAG,
     .offset = FIELD(resume),
     .fallback = "",
     .argument = "",
     .help = "go on from the file of --checkpoint, if it is there: the model will be the same"},
    {.name = "calibrate",
     .type = MD_FLAG,
     .offset = FIELD(calibrate),
     .fallback = "",
     .argument = "",
     .help = "learn how far scores can be trusted, for predict --proba: train again on four fifths "
             "of the examples and look at the others; the labels that are predicted stay the same"},
    {.name = "kernel",
     .type = MD_LIST,
     .offset = FIELD(kernels),
     .fallback = "",
     .argument = "SPEC",
     .help = "NAME(key=value,...)[@VIEW]; {a,b} and a..b expand (medley list kernels); default "
             "linear, quadratic and Gaussian on every view, and a bias"},
    {.name = "kernels",
     .type = MD_LIST,
     .offset = FIELD(kernel_files),
     .fallback = "",
     .argument = "FILE",
     .help = "kernels from a file, one a line, # comments"},
    {.name = "views",
     .type = MD_STRING,
     .offset = FIELD(views),
     .fallback = "auto",
     .argument = "SPEC",
     .help = "column views of DATA, joined by '+': all, each (one per column), prefix (one per "
             "name before '='), grid:RxC (tiles of images), random:COUNT[:SEED] (random sets of "
             "columns: random1, random2 ...; @random is all of them), and rows changed by steps "
             "joined by '/': window:K (with K neighbours on both sides), blur(SIGMA), shift "
             "(centred by whole pixels) or shift(DOWN,RIGHT), center(pad=2,slant=0) (by fractions "
             "of a pixel on a larger canvas; slant=1 sets writing upright), "
             "orient(directions=8,blur=1.3,stride=2,root=0.5) (maps of edge directions, best "
             "after center/blur(0.5)); HxW comes first where the image size is not known. A view "
             "is called as it is written; @blur is every blur view. auto: all, or prefix for "
             "named attributes"},
    {.name = "scale",
     .type = MD_LIST,
     .offset = FIELD(scale),
     .fallback = "",
     .argument = "[VIEW=]KIND",
     .help = "none (default), standard (mean 0, deviation 1) or minmax (0 to 1), for all or one "
             "view"},
    {.name = "normalize",
     .type = MD_CHOICE,
     .offset = FIELD(normalize),
     .fallback = "none",
     .choices = md_norm_names,
     .argument = "none|diag|trace|center",
     .help = "for kernels without norm= of their own: unit diagonal, unit trace, centred"},
    {.name = "seed",
     .type = MD_INT,
     .offset = FIELD(seed),
     .fallback = "1",
     .least = 0,
     .most = 9e15,
     .argument = "N",
     .help = "of everything random: one seed gives one model"},
    {.name = "threads",
     .type = MD_INT,
     .offset = FIELD(threads),
     .fallback = "0",
     .least = 0,
     .most = 4096,
     .argument = "N",
     .help = "0: all processors; the result does not depend on it"},
    {.name = "memory",
     .type = MD_SIZE,
     .offset = FIELD(memory),
     .fallback = "",
     .argument = "SIZE",
     .help = "budget for kernel values and features of trees, e.g. 2G; what exceeds it is computed "
             "on the fly; default: "
             "half of what is free, of which methods obscure and pegasos fill matrices up to 1 GB "
             "with the hinge loss"},
    {0}};

medley_status medley_options_create(medley_options **result, medley_error *error)
{
    medley_options *options = md_calloc(1, sizeof *options);
    if (options == NULL)
        return md_fail_memory(error, sizeof *options);
    const medley_status status = md_params_defaults(md_option_table, options, error);
    if (status < 0) {
        medley_options_free(options);
        return status;
    }
    *result = options;
    return MEDLEY_OK;
}

void medley_options_free(medley_options *options)
{
    if (options == NULL)
        return;
    md_params_clear(md_option_table, options);
    free(options);
}

medley_status medley_options_set(medley_options *options, const char *name, const char *value,
                                 medley_error *error)
{
    return md_params_set(md_option_table, options, NULL, name, value, error);
}

size_t medley_option_count(void)
{
    size_t count = 0;
    while (md_option_table[count].name != NULL)
        count++;
    return count;
}

medley_option_info medley_option_describe(size_t index)
{
    const md_param *p = &md_option_table[index];
    return (medley_option_info){.name = p->name,
                                .argument = p->argument,
                                .fallback = p->fallback,
                                .help = p->help,
                                .repeatable = p->type == MD_LIST};
}

/* ---- reading the values ---- */

medley_status md_options_number(double *value, const char *name, const char *text, bool allow_none,
                                medley_error *error)
{
    *value = NAN;
    if (strcmp(text, "auto") == 0)
        return MEDLEY_OK;
    if (allow_none && strcmp(text, "none") == 0) {
        *value = INFINITY;
        return MEDLEY_OK;
    }
    if (md_parse_double(text, value) && isfinite(*value) && *value > 0)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE, "--%s='%s' is neither %sauto nor a positive number", name,
                   text, allow_none ? "none nor " : "");
}

bool md_options_has_strength(const medley_options *options)
{
    return !isnan(options->lambda) || !isnan(options->C) || !isnan(options->spicy_C);
}

medley_status md_options_lambda(double *lambda, const medley_options *options, double default_C,
                                size_t examples, medley_error *error)
{
    const double n = (double)examples;
    const int given = !isnan(options->lambda) + !isnan(options->C) + !isnan(options->spicy_C);
    if (given > 1)
        return md_fail(error, MEDLEY_USAGE,
                       "give one of --lambda, --C and --spicy-C: they say the same thing");
    if (!isnan(options->lambda))
        *lambda = options->lambda;
    else if (!isnan(options->spicy_C))
        *lambda = options->spicy_C / n;
    else
        *lambda = 1 / ((isnan(options->C) ? default_C : options->C) * n);
    if (!isnormal(*lambda))
        return md_fail(error, MEDLEY_USAGE, "lambda = %g is out of range", *lambda);
    return MEDLEY_OK;
}
