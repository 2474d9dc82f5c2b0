/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

/* ---- text ---- */

const char *cli_measure(char text[CLI_MEASURE_BYTES], bool higher_is_better, double value)
{
    if (isnan(value))
        snprintf(text, CLI_MEASURE_BYTES, "-");
    else if (higher_is_better)
        snprintf(text, CLI_MEASURE_BYTES, "%.2f %%", 100 * value);
    else
        snprintf(text, CLI_MEASURE_BYTES, "%.5g", value);
    return text;
}

enum { NAME_BYTES = 64 };

/* Options that are varied more than once are numbered: kernel1, kernel2. */
static const char *option_name(char text[NAME_BYTES], const medley_tuning *tuning, size_t option)
{
    size_t count = 0;
    size_t number = 0;
    for (size_t o = 0; o < tuning->option_count; o++) {
        count += strcmp(tuning->options[o], tuning->options[option]) == 0;
        number = o == option ? count : number;
    }
    if (count == 1)
        return tuning->options[option];
    snprintf(text, NAME_BYTES, "%s%zu", tuning->options[option], number);
    return text;
}

void cli_print_trial(FILE *file, const medley_tuning *tuning, size_t trial)
{
    char name[NAME_BYTES];
    for (size_t o = 0; o < tuning->option_count; o++)
        fprintf(file, "%s%s %s", o ? ", " : "", option_name(name, tuning, o),
                tuning->trials[trial].values[o]);
}

static int column_width(const medley_tuning *tuning, size_t option)
{
    char name[NAME_BYTES];
    size_t width = strlen(option_name(name, tuning, option));
    for (size_t t = 0; t < tuning->trial_count; t++) {
        const size_t length = strlen(tuning->trials[t].values[option]);
        width = length > width ? length : width;
    }
    return (int)width;
}

/* Where a mean stands between the worst, a tenth of the bar, and the best, all of it. Means that
 * differ by less than the error of the best one look alike. */
static double bar_share(const medley_tuning *tuning, double mean)
{
    const double best = tuning->trials[tuning->best].mean;
    double worst = best;
    for (size_t t = 0; t < tuning->trial_count; t++) {
        const double other = tuning->trials[t].mean;
        if (!isnan(other) && (tuning->higher_is_better ? other < worst : other > worst))
            worst = other;
    }
    const double error = tuning->trials[tuning->best].standard_error;
    const double range = fmax(fabs(best - worst), error > 0 ? error : 0);
    return range > 0 ? 1 - 0.9 * fabs(best - mean) / range : 1;
}

static const char *mark(const medley_tuning *tuning, size_t trial)
{
    if (trial == tuning->best && isnan(tuning->trials[trial].standard_error)) /* of one fold */
        return "  best";
    if (trial == tuning->best)
        return trial == tuning->one_error ? "  best, and simplest within one error" : "  best";
    return trial == tuning->one_error ? "  simplest within one error" : "";
}

static void print_line(FILE *file, const medley_tuning *tuning, size_t t)
{
    const medley_trial *trial = &tuning->trials[t];
    const bool high = tuning->higher_is_better;
    char mean[CLI_MEASURE_BYTES];
    char deviation[CLI_MEASURE_BYTES];
    char bar[128];
    cli_sentence sentence;
    if (trial->problem != NULL) {
        fprintf(file, "failed: %s\n", cli_spoken(sentence, trial->problem));
        return;
    }
    fprintf(file, "%11s  %9s  %6.4g  %7.3g  %s%s\n", cli_measure(mean, high, trial->mean),
            cli_measure(deviation, high, trial->deviation), trial->active, trial->seconds,
            cli_bar(bar, bar_share(tuning, trial->mean), 16), mark(tuning, t));
}

/* Does an earlier trial have the same value of an option? */
static bool is_repeated(const medley_tuning *tuning, size_t option, size_t trial)
{
    for (size_t t = 0; t < trial; t++)
        if (strcmp(tuning->trials[t].values[option], tuning->trials[trial].values[option]) == 0)
            return true;
    return false;
}

/* Values of an option that lie below and above that of the best trial; false: it is no strength of
 * the penalty, or another value is as good. */
static bool count_sides(const medley_tuning *tuning, size_t option, size_t *below, size_t *above)
{
    static const char *const strengths[] = {"C", "lambda", "spicy-C", NULL};
    const double best = strtod(tuning->trials[tuning->best].values[option], NULL);
    *below = *above = 0;
    if (!cli_is_any(tuning->options[option], strengths))
        return false;
    for (size_t t = 0; t < tuning->trial_count; t++) {
        const double value = strtod(tuning->trials[t].values[option], NULL);
        if (value != best && tuning->trials[t].mean == tuning->trials[tuning->best].mean)
            return false;
        if (is_repeated(tuning, option, t))
            continue;
        *below += value < best;
        *above += value > best;
    }
    return true;
}

/* A best value at the end of what was tried may not be the best there is. */
static void print_ends(FILE *file, const medley_tuning *tuning)
{
    enum { LEAST = 2 }; /* other values: one more says nothing of a direction */
    char name[NAME_BYTES];
    size_t below;
    size_t above;
    for (size_t o = 0; o < tuning->option_count; o++)
        if (count_sides(tuning, o, &below, &above) && (below == 0) != (above == 0) &&
            below + above >= LEAST)
            fprintf(file, "the best %s is the %s that was tried; %s ones may be better\n",
                    option_name(name, tuning, o), above == 0 ? "largest" : "smallest",
                    above == 0 ? "larger" : "smaller");
}

void cli_print_tuning(FILE *file, const medley_tuning *tuning)
{
    char name[NAME_BYTES];
    for (size_t o = 0; o < tuning->option_count; o++)
        fprintf(file, "%-*s  ", column_width(tuning, o), option_name(name, tuning, o));
    fprintf(file, "%11s  deviation  active  seconds\n", tuning->measure);
    for (size_t t = 0; t < tuning->trial_count; t++) {
        for (size_t o = 0; o < tuning->option_count; o++)
            fprintf(file, "%-*s  ", column_width(tuning, o), tuning->trials[t].values[o]);
        print_line(file, tuning, t);
    }
    print_ends(file, tuning);
}

/* ---- JSON ---- */

static void json_trial(const medley_tuning *tuning, const medley_trial *trial)
{
    char name[NAME_BYTES];
    cli_sentence sentence;
    json_open(stdout, NULL, '{');
    json_open(stdout, "options", '{');
    for (size_t o = 0; o < tuning->option_count; o++)
        json_string(stdout, option_name(name, tuning, o), trial->values[o]);
    json_close(stdout, '}');
    json_number(stdout, "mean", trial->mean);
    json_number(stdout, "deviation", trial->deviation);
    json_number(stdout, "standard_error", trial->standard_error);
    json_number(stdout, "seconds", trial->seconds);
    json_number(stdout, "active", trial->active);
    json_numbers(stdout, "folds", trial->fold, tuning->fold_count);
    if (trial->problem != NULL)
        json_string(stdout, "problem", cli_spoken(sentence, trial->problem));
    json_close(stdout, '}');
}

void cli_json_tuning(const medley_tuning *tuning)
{
    json_string(stdout, "measure", tuning->measure);
    json_bool(stdout, "higher_is_better", tuning->higher_is_better);
    json_count(stdout, "folds", tuning->fold_count);
    json_open(stdout, "trials", '[');
    for (size_t t = 0; t < tuning->trial_count; t++)
        json_trial(tuning, &tuning->trials[t]);
    json_close(stdout, ']');
    json_count(stdout, "best", tuning->best);
    json_count(stdout, "one_error", tuning->one_error);
    json_bool(stdout, "kernels_shared", tuning->kernels_shared);
    json_count(stdout, "threads", tuning->threads);
}

/* ---- CSV ---- */

static void csv_text(FILE *file, const char *text)
{
    if (strpbrk(text, ",\"\n") == NULL)
        fputs(text, file);
    else
        csv_quoted(file, text);
}

void cli_csv_tuning(FILE *file, const void *context)
{
    const medley_tuning *tuning = context;
    char name[NAME_BYTES];
    for (size_t o = 0; o < tuning->option_count; o++)
        fprintf(file, "%s%s", o ? "," : "", option_name(name, tuning, o));
    fprintf(file, ",%s,deviation,standard_error,active,seconds", tuning->measure);
    for (size_t f = 0; f < tuning->fold_count; f++)
        fprintf(file, ",fold%zu", f);
    fprintf(file, ",problem\n");
    for (size_t t = 0; t < tuning->trial_count; t++) {
        const medley_trial *trial = &tuning->trials[t];
        cli_sentence sentence;
        for (size_t o = 0; o < tuning->option_count; o++) {
            fputs(o ? "," : "", file);
            csv_text(file, trial->values[o]);
        }
        const double numbers[] = {trial->mean, trial->deviation, trial->standard_error,
                                  trial->active, trial->seconds};
        csv_numbers(file, numbers, sizeof numbers / sizeof *numbers);
        csv_numbers(file, trial->fold, tuning->fold_count);
        fputc(',', file);
        csv_text(file, cli_spoken(sentence, trial->problem ? trial->problem : ""));
        fputc('\n', file);
    }
}
