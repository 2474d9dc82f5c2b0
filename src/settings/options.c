/* SPDX-License-Identifier: BSD-3-Clause */
/* The one table of training options: names, defaults, ranges and help for the command line, the
 * manual, completion and bindings. */
#include "settings/options.h"

#include "base/memory.h"
#include "gram/bank.h"
#include "settings/about.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const roots_names[] = {"one", "many", NULL};
static const char *const storage_names[] = {"float32", "float64", NULL};
static const char *const bigram_names[] = {"auto", "fixed", "learned", "none", NULL};
static const char *const schedule_names[] = {"auto", "sqrt", "epoch", "inverse", "constant", NULL};

/* What every row has; whom it concerns and other conditions follow where there are any. */
#define OPTION(text, kind, field, value, placeholder)                                              \
    .name = (text), .type = (kind), .offset = offsetof(struct medley_options, field),              \
    .fallback = (value), .argument = (placeholder)
#define RANGE(low, high) .least = (low), .most = (high)

const md_param md_option_table[] = {
    {OPTION("task", MD_CHOICE, task, "auto", "auto|binary|regression|multiclass|chain|tree"),
     .choices = md_task_names, .roles = MD_ROLE_KERNELS,
     .help = "what is predicted; auto: dependency trees (tree) of CoNLL-U files without chain "
             "templates, sequences of labels (chain) where the data have sequences, else one label "
             "per row; regression: numbers"},
    {OPTION("method", MD_STRING, method, "auto", "NAME"),
     .help = "how it is learnt (medley list methods); auto: spicy for two labels or numbers and up "
             "to 5000 rows, unless other options speak of online learning; else spom"},
    {OPTION("loss", MD_STRING, loss, "auto", "NAME"),
     .help = "hinge, logistic, softmax-margin (online methods), squared or epsilon(0.1) (numbers); "
             "auto: hinge, for numbers squared (medley list losses)"},
    {OPTION("penalty", MD_STRING, penalty, "auto", "NAME"), .concerns = MD_TAKES_PENALTY,
     .instead = "methods obscure and pegasos have squared-block(q=P) with the P of --p",
     .help = "what keeps blocks small or out, terms joined by '+' (medley list penalties); auto: "
             "mkl, of method spicy group-lasso"},
    {OPTION("lambda", MD_DOUBLE, lambda, "", "X"), RANGE(1e-300, 1e300),
     .concerns = MD_TAKES_STRENGTH, .help = "strength of the penalty in mean loss + lambda Omega"},
    {OPTION("C", MD_DOUBLE, C, "", "X"), RANGE(1e-300, 1e300), .concerns = MD_TAKES_STRENGTH,
     .help = "the same as 1/(lambda N), large is weak; default 10, of methods obscure and pegasos "
             "1, of trees 3"},
    {OPTION("spicy-C", MD_DOUBLE, spicy_C, "", "X"), RANGE(1e-300, 1e300),
     .concerns = MD_TAKES_STRENGTH,
     .help = "the same as lambda N, large is strong; default of method spicy: a tenth of the "
             "least value that leaves out all kernels"},
    {OPTION("gap", MD_DOUBLE, gap, "0.01", "X"), RANGE(1e-12, 1), .concerns = MD_TAKES_CERTIFICATE,
     .help =
         "methods with a certificate (spicy ...): stop at this relative gap, (objective - dual) / "
         "objective"},
    {OPTION("max-iter", MD_INT, max_iterations, "500", "N"), RANGE(1, 1e9),
     .concerns = MD_TAKES_CERTIFICATE,
     .help = "methods with a certificate: stop after so many outer iterations even so"},
    {OPTION("storage", MD_CHOICE, storage, "float32", "float32|float64"), .choices = storage_names,
     .concerns = MD_TAKES_CERTIFICATE,
     .help =
         "methods with a certificate: how kernel values are kept; those computed from data have "
         "single precision either way"},
    {OPTION("ridge", MD_DOUBLE, ridge, "0", "X"), RANGE(0, 1e6), .concerns = MD_TAKES_CERTIFICATE,
     .help =
         "methods with a certificate: add X times the mean of its diagonal to the diagonal of each "
         "kernel"},
    {OPTION("epochs", MD_INT, epochs, "0", "N"), RANGE(0, 1e6), .concerns = MD_TAKES_EPOCHS,
     .roles = MD_ROLE_KEYLESS, .instead = "method obscure has --epochs1 and --epochs2",
     .help = "passes over the data; 0: 100 with kernels, 12 where all features are explicit, 10 of "
             "trees"},
    {OPTION("eta0", MD_STRING, eta0, "auto", "X|auto"), .concerns = MD_TAKES_RATES,
     .help = "first learning rate; auto searches on a part of the data, and has a rule for trees"},
    {OPTION("schedule", MD_CHOICE, schedule, "auto", "auto|sqrt|epoch|inverse|constant"),
     .choices = schedule_names, .concerns = MD_TAKES_RATES,
     .help = "rate at step t: eta0/sqrt(t); eta0/sqrt(1+t/N), which falls by epochs; eta0/(sigma "
             "t) with sigma the strong convexity of lambda times the penalty (eta0/t if it has "
             "none); or eta0. auto: sqrt with kernels, epoch where all features are explicit"},
    {OPTION("average", MD_FLAG, average, "", ""), .concerns = MD_TAKES_ROUNDS,
     .help = "return the average of the iterates instead of the last"},
    {OPTION("average-from", MD_DOUBLE, average_from, "0", "SHARE"), RANGE(0, 0.999),
     .concerns = MD_TAKES_ROUNDS, .needs = "average",
     .help = "average only iterates behind this share of the epochs: 0.5 is the second half"},
    {OPTION("radius", MD_STRING, radius, "auto", "auto|none|X"), .concerns = MD_TAKES_RATES,
     .help = "project onto a ball that contains the optimum (auto), any other, or none"},
    {OPTION("p", MD_DOUBLE, p, "1.25", "X"), RANGE(1.001, 2), .concerns = MD_TAKES_NORM,
     .instead = "--penalty 'squared-block(Q)' is the same for --method spom",
     .help = "methods obscure and pegasos: norm over the blocks; near 1 few of them count, 2 "
             "treats all alike (1 < p <= 2)"},
    {OPTION("eta", MD_STRING, eta, "auto", "X|auto"), .concerns = MD_TAKES_STEPS,
     .help = "method obscure: length of the steps of its first stage; auto: 2 over the largest "
             "K(x,x)"},
    {OPTION("epochs1", MD_INT, epochs1, "3", "N"), RANGE(0, 1e6), .concerns = MD_TAKES_STAGES,
     .help = "method obscure: passes of the first, online stage at most"},
    {OPTION("epochs2", MD_INT, epochs2, "30", "N"), RANGE(0, 1e6), .concerns = MD_TAKES_STAGES,
     .roles = MD_ROLE_KEYLESS,
     .help = "method obscure: passes of the second, batch stage; 0: the first stage alone"},
    {OPTION("patience", MD_INT, patience, "5", "N"), RANGE(1, 1e6), .concerns = MD_TAKES_PATIENCE,
     .help = "with held-out data: stop after N epochs without improvement"},
    {OPTION("batch", MD_INT, batch, "0", "N"), RANGE(0, 4096), .concerns = MD_TAKES_ROUNDS,
     .help = "examples of a round, scored in parallel by the same weights; 0: 1 with kernels, 8 "
             "where all features are explicit, of trees a hundredth of the sentences, at most 32"},
    {OPTION("prox-every", MD_INT, prox_every, "0", "N"), RANGE(0, 1e9), .concerns = MD_TAKES_RATES,
     .help = "rounds of steps before the penalty shrinks the blocks, as much as it would have in "
             "each: more leave more blocks out; 0: 1, of trees an epoch"},
    {OPTION("bigram", MD_CHOICE, bigram, "auto", "auto|fixed|learned|none"),
     .choices = bigram_names, .concerns = MD_TAKES_CONTEXT, .idle = "none",
     .help = "pairs of neighbouring labels (chains): a block with an l2 term of its own, a block "
             "under the penalty like the others, or none; auto: fixed, or what the B lines of the "
             "templates say"},
    {OPTION("bigram-scale", MD_DOUBLE, bigram_scale, "1", "X"), RANGE(1e-6, 1e6),
     .concerns = MD_TAKES_CONTEXT,
     .help = "value of the features of label pairs and triples: larger ones learn faster"},
    {OPTION("bigram-ends", MD_FLAG, bigram_ends, "", ""), .concerns = MD_TAKES_CONTEXT,
     .help = "the first and the last label of a sequence have features too"},
    {OPTION("block-scale", MD_LIST, block_scale, "", "NAME=X"), .concerns = MD_TAKES_BLOCKS,
     .help = "multiply the features of a block by X: larger ones learn faster and are penalised "
             "less. NAME is a block's name, or for templates the part before ':'; a '*' at its end "
             "stands for anything"},
    {OPTION("order", MD_INT, order, "1", "1|2"), RANGE(1, 2), .concerns = MD_TAKES_CONTEXT,
     .help = "chains: 2 adds triples of neighbouring labels"},
    {OPTION("template", MD_STRING, template, "", "FILE|NAME"), .concerns = MD_TAKES_TEMPLATES,
     .roles = MD_ROLE_KERNELS,
     .help =
         "feature templates for tagged words, as CRF++ and Wapiti have them: every line is a "
         "block; chunk and ud-pos are built in (medley list templates); for trees arc templates, "
         "by default arc-507"},
    {OPTION("min-count", MD_INT, min_count, "1", "N"), RANGE(1, 1e9), .concerns = MD_TAKES_WORDS,
     .needs = "template", .help = "leave out features of templates that occur less often"},
    {OPTION("hash-bits", MD_INT, hash_bits, "0", "N"), RANGE(0, 28),
     .concerns = MD_TAKES_WORDS | MD_TAKES_ARCS, .needs = "template",
     .help = "hash the features of each template into 2^N slots; 0: a dictionary, for trees 18"},
    {OPTION("tags", MD_STRING, tags, "", "COLUMN"), .concerns = MD_TAKES_ARCS,
     .roles = MD_ROLE_UNDIVIDED, .instead = "give a CoNLL-U file and --task tree",
     .help = "trees: the column of CoNLL-U whose tags stand for upos in templates, by name or "
             "number; default UPOS"},
    {OPTION("roots", MD_CHOICE, roots, "one", "one|many"), .choices = roots_names,
     .concerns = MD_TAKES_ARCS, .instead = "give a CoNLL-U file and --task tree",
     .help = "trees: how many words of a sentence may hang from the root"},
    {OPTION("projective", MD_FLAG, projective, "", ""), .concerns = MD_TAKES_ARCS,
     .instead = "give a CoNLL-U file and --task tree",
     .help = "trees: none with crossing arcs are predicted (Eisner's algorithm)"},
    {OPTION("unlabelled", MD_FLAG, unlabelled, "", ""), .concerns = MD_TAKES_ARCS,
     .instead = "give a CoNLL-U file and --task tree", .help = "trees: heads only, no relations"},
    {OPTION("from", MD_STRING, from, "", "MODEL"), .roles = MD_ROLE_KERNELS | MD_ROLE_UNDIVIDED,
     .needs = "keep", .help = "an earlier model whose blocks --keep chooses from"},
    {OPTION("keep", MD_INT, keep, "0", "N"), RANGE(0, 1e9), .roles = MD_ROLE_KERNELS,
     .needs = "from",
     .help = "use only the N blocks with the largest weights in the model of --from"},
    {OPTION("blocks", MD_STRING, blocks, "", "LIST"), .roles = MD_ROLE_KERNELS | MD_ROLE_UNDIVIDED,
     .help = "use only these blocks, by name or the part before ':', separated by commas"},
    {OPTION("checkpoint", MD_STRING, checkpoint, "", "FILE"), .concerns = MD_TAKES_CHECKPOINTS,
     .roles = MD_ROLE_KEYLESS | MD_ROLE_UNDIVIDED,
     .help = "write the state of training to FILE after the first and the last epoch and as often "
             "between "
             "as takes a tenth of the time"},
    {OPTION("resume", MD_FLAG, resume, "", ""), .concerns = MD_TAKES_CHECKPOINTS,
     .roles = MD_ROLE_KEYLESS | MD_ROLE_UNDIVIDED, .needs = "checkpoint",
     .help = "go on from the file of --checkpoint, if it is there: the model will be the same"},
    {OPTION("calibrate", MD_FLAG, calibrate, "", ""), .concerns = MD_TAKES_PROBABILITIES,
     .roles = MD_ROLE_KEYLESS,
     .help = "learn how far scores can be trusted, for predict --proba: train again on four fifths "
             "of the examples and look at the others; the labels that are predicted stay the same"},
    {OPTION("kernel", MD_LIST, kernels, "", "SPEC"), .concerns = MD_TAKES_KERNELS,
     .roles = MD_ROLE_KERNELS,
     .help = "NAME(key=value,...)[@VIEW]; {a,b} and a..b expand (medley list kernels); default "
             "linear, quadratic and Gaussian on every view, and a bias"},
    {OPTION("kernels", MD_LIST, kernel_files, "", "FILE"), .concerns = MD_TAKES_KERNELS,
     .roles = MD_ROLE_KERNELS, .help = "kernels from a file, one a line, # comments"},
    {OPTION("views", MD_STRING, views, "auto", "SPEC"), .concerns = MD_TAKES_KERNELS,
     .roles = MD_ROLE_KERNELS,
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
    {OPTION("scale", MD_LIST, scale, "", "[VIEW=]KIND"), .concerns = MD_TAKES_KERNELS,
     .roles = MD_ROLE_KERNELS,
     .help = "none (default), standard (mean 0, deviation 1) or minmax (0 to 1), for all or one "
             "view"},
    {OPTION("normalize", MD_CHOICE, normalize, "none", "none|diag|trace|center"),
     .choices = md_norm_names, .concerns = MD_TAKES_KERNELS, .roles = MD_ROLE_KERNELS,
     .help = "for kernels without norm= of their own: unit diagonal, unit trace, centred"},
    {OPTION("seed", MD_INT, seed, "1", "N"), RANGE(0, 9e15), .roles = MD_ROLE_KERNELS,
     .help = "of everything random: one seed gives one model"},
    {OPTION("threads", MD_INT, threads, "0", "N"), RANGE(0, 4096),
     .roles = MD_ROLE_KEYLESS | MD_ROLE_UNDIVIDED,
     .help = "0: all processors; the result does not depend on it"},
    {OPTION("memory", MD_SIZE, memory, "", "SIZE"), .roles = MD_ROLE_KEYLESS | MD_ROLE_UNDIVIDED,
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

medley_status md_options_copy(medley_options **result, const medley_options *options,
                              medley_error *error)
{
    medley_options *copy = NULL;
    medley_status status = medley_options_create(&copy, error);
    if (status == MEDLEY_OK && options != NULL)
        status = md_params_copy(md_option_table, copy, options, error);
    if (status < 0)
        medley_options_free(copy);
    else
        *result = copy;
    return status;
}

medley_status md_options_reset(medley_options *options, unsigned concerns, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    for (const md_param *p = md_option_table; p->name != NULL && status == MEDLEY_OK; p++) {
        const md_param row[] = {*p, {0}};
        if ((p->concerns & concerns) == 0)
            continue;
        md_params_clear(row, options);
        status = md_params_defaults(row, options, error);
    }
    return status;
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
