/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

size_t cli_path_best(const medley_path *path)
{
    size_t best = 0;
    if (path->measure == NULL)
        return path->point_count - 1;
    for (size_t p = 1; p < path->point_count; p++) {
        const double gain = path->points[p].score - path->points[best].score;
        if (path->higher_is_better ? gain > 0 : gain < 0)
            best = p;
    }
    return best;
}

/* ---- text ---- */

/* most: active blocks that a point of the path has. */
static void print_line(FILE *file, const medley_path *path, size_t p, bool certified, size_t most)
{
    const medley_path_point *point = &path->points[p];
    char bar[128];
    char score[CLI_MEASURE_BYTES];
    fprintf(file, "%10.4g  %10.4g  %10.6g", point->lambda, point->C, point->objective);
    if (certified)
        fprintf(file, "  %8.2g %%", 100 * point->gap);
    if (path->measure != NULL)
        fprintf(file, "  %10s", cli_measure(score, path->higher_is_better, point->score));
    const double share = most > 0 ? (double)point->active / (double)most : 0;
    fprintf(file, "  %6zu  %s", point->active, cli_bar(bar, share, 16));
}

struct entry {
    size_t block, point;
    double norm; /* when it came in */
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    if (x->norm != y->norm)
        return x->norm > y->norm ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

enum { SHOWN = 10 };

/* Adds an entry to the first ones in order; *count: those that were added so far. */
static void add_entry(struct entry first[SHOWN], size_t *count, struct entry entry)
{
    size_t place = *count < SHOWN ? *count : SHOWN;
    for (; place > 0 && compare_entries(&entry, &first[place - 1]) < 0; place--)
        if (place < SHOWN)
            first[place] = first[place - 1];
    if (place < SHOWN)
        first[place] = entry;
    ++*count;
}

/* The first blocks that come in; returns how many ever do. Takes no memory: they are shown even if
 * there is none left. */
static size_t find_entries(struct entry first[SHOWN], const medley_path *path)
{
    size_t count = 0;
    for (size_t m = 0; m < path->block_count; m++)
        for (size_t p = 0; p < path->point_count; p++)
            if (path->points[p].norms[m] > 0) {
                add_entry(first, &count, (struct entry){m, p, path->points[p].norms[m]});
                break;
            }
    return count;
}

static void print_entries(FILE *file, const medley_path *path)
{
    struct entry entries[SHOWN];
    const size_t count = find_entries(entries, path);
    const medley_path_point *last = &path->points[path->point_count - 1];
    if (count == 0)
        fprintf(file, "\nno block comes in along this path; a smaller --ratio goes farther\n");
    else
        fprintf(file, "\nthe first blocks to come in%s\n  from lambda   last weight  block\n",
                count > SHOWN ? " (ten of them)" : "");
    for (size_t i = 0; i < count && i < SHOWN; i++)
        fprintf(file, "  %11.4g  %12.4g  %s\n", path->points[entries[i].point].lambda,
                last->weights[entries[i].block], path->blocks[entries[i].block]);
}

void cli_print_path(FILE *file, const medley_path *path, size_t best)
{
    bool certified = false;
    size_t most = 0;
    for (size_t p = 0; p < path->point_count; p++) {
        certified = certified || !isnan(path->points[p].gap);
        most = path->points[p].active > most ? path->points[p].active : most;
    }
    fprintf(file, "%s, %s loss, penalty %s, method %s, %zu blocks\n\n", path->task, path->loss,
            path->penalty, path->method, path->block_count);
    fprintf(file, "%10s  %10s  %10s", "lambda", "C", "objective");
    if (certified)
        fprintf(file, "  %10s", "gap");
    if (path->measure != NULL)
        fprintf(file, "  %10s", path->measure);
    fprintf(file, "  active\n");
    for (size_t p = 0; p < path->point_count; p++) {
        print_line(file, path, p, certified, most);
        fprintf(file, "%s\n", path->measure != NULL && p == best ? " best" : "");
    }
    print_entries(file, path);
}

/* ---- JSON ---- */

static void json_point(FILE *file, const medley_path *path, const medley_path_point *point)
{
    json_open(file, NULL, '{');
    json_number(file, "lambda", point->lambda);
    json_number(file, "C", point->C);
    json_number(file, "objective", point->objective);
    json_number(file, "dual", point->dual);
    json_number(file, "gap", point->gap);
    json_count(file, "active", point->active);
    json_number(file, "score", point->score);
    json_number(file, "seconds", point->seconds);
    json_numbers(file, "weights", point->weights, path->block_count);
    json_close(file, '}');
}

void cli_json_path(FILE *file, const medley_path *path)
{
    json_string(file, "task", path->task);
    json_string(file, "method", path->method);
    json_string(file, "loss", path->loss);
    json_string(file, "penalty", path->penalty);
    json_string(file, "measure", path->measure);
    json_strings(file, "blocks", path->blocks, path->block_count);
    json_open(file, "path", '[');
    for (size_t p = 0; p < path->point_count; p++)
        json_point(file, path, &path->points[p]);
    json_close(file, ']');
}

/* ---- CSV ---- */

void cli_csv_path(FILE *file, const void *context)
{
    const medley_path *path = context;
    char text[CLI_NUMBER_BYTES];
    fputs("lambda,C,active,objective,gap,score", file);
    for (size_t m = 0; m < path->block_count; m++) {
        fputc(',', file);
        csv_quoted(file, path->blocks[m]);
    }
    fputc('\n', file);
    for (size_t p = 0; p < path->point_count; p++) {
        const medley_path_point *point = &path->points[p];
        const double numbers[] = {point->C, (double)point->active, point->objective, point->gap,
                                  point->score};
        fputs(cli_number(text, point->lambda), file);
        csv_numbers(file, numbers, sizeof numbers / sizeof *numbers);
        csv_numbers(file, point->weights, path->block_count);
        fputc('\n', file);
    }
}
