/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of characters: bars, and the table of blocks by weight. */
#include "cli.h"

const char *cli_bar(char *text, double share, int width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    const int steps = (int)(share * width * 8 + 0.5);
    char *p = text;
    for (int i = 0; i < steps / 8; i++)
        p = stpcpy(p, "█");
    p = stpcpy(p, eighths[steps % 8]);
    for (int i = steps / 8 + (steps % 8 != 0); i < width; i++)
        p = stpcpy(p, " ");
    return text;
}

struct ranked {
    double weight;
    size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyser does not follow cleanup */
size_t *cli_blocks_by_weight(const medley_summary *summary)
{
    const size_t count = summary->block_count;
    CLI_OWNED(free) struct ranked *ranked = calloc(count + 1, sizeof *ranked);
    size_t *order = ranked != NULL ? calloc(count + 1, sizeof *order) : NULL;
    if (order == NULL)
        return NULL;
    for (size_t m = 0; m < count; m++)
        ranked[m] = (struct ranked){summary->blocks[m].weight, m};
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    for (size_t m = 0; m < count; m++)
        order[m] = ranked[m].index;
    return order;
}

/* The block that follows in the same order; SIZE_MAX: the first one. Takes no memory: what was
 * learnt is shown even if there is none left. */
static size_t next_block(const medley_summary *summary, size_t previous)
{
    const struct ranked last = {
        previous < summary->block_count ? summary->blocks[previous].weight : INFINITY, previous};
    struct ranked next = {-INFINITY, SIZE_MAX};
    for (size_t m = 0; m < summary->block_count; m++) {
        const struct ranked block = {summary->blocks[m].weight, m};
        if ((previous == SIZE_MAX || compare_ranked(&last, &block) < 0) &&
            compare_ranked(&block, &next) < 0)
            next = block;
    }
    return next.index;
}

void cli_print_blocks(FILE *file, const medley_summary *summary, size_t top)
{
    const size_t shown = top < summary->block_count ? top : summary->block_count;
    const size_t first = next_block(summary, SIZE_MAX);
    size_t width = 5;
    size_t b = first;
    for (size_t i = 0; i < shown; i++, b = next_block(summary, b)) {
        const size_t length = strlen(summary->blocks[b].name);
        width = length > width ? length : width;
    }
    const double largest = shown ? summary->blocks[first].weight : 0;
    fprintf(file, "%-*s  weight        norm  features\n", (int)width, "block");
    b = first;
    for (size_t i = 0; i < shown; i++, b = next_block(summary, b)) {
        const medley_block_info *block = &summary->blocks[b];
        char bar[128];
        fprintf(file, "%-*s  %6.4f  %10.4g  %8zu  %s\n", (int)width, block->name, block->weight,
                block->norm, block->features,
                cli_bar(bar, largest > 0 ? block->weight / largest : 0, 24));
    }
    if (shown < summary->block_count)
        fprintf(file, "... and %zu more (--top N shows them)\n", summary->block_count - shown);
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */
