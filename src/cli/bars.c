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

void cli_print_blocks(FILE *file, const medley_summary *summary, size_t top)
{
    CLI_OWNED(free) size_t *order = cli_blocks_by_weight(summary);
    if (order == NULL)
        return;
    size_t width = 5;
    const size_t shown = top < summary->block_count ? top : summary->block_count;
    for (size_t i = 0; i < shown; i++) {
        const size_t length = strlen(summary->blocks[order[i]].name);
        width = length > width ? length : width;
    }
    const double largest = shown ? summary->blocks[order[0]].weight : 0;
    fprintf(file, "%-*s  weight        norm  features\n", (int)width, "block");
    for (size_t i = 0; i < shown; i++) {
        const medley_block_info *block = &summary->blocks[order[i]];
        char bar[128];
        fprintf(file, "%-*s  %6.4f  %10.4g  %8zu  %s\n", (int)width, block->name, block->weight,
                block->norm, block->features,
                cli_bar(bar, largest > 0 ? block->weight / largest : 0, 24));
    }
    if (shown < summary->block_count)
        fprintf(file, "... and %zu more (--top N shows them)\n", summary->block_count - shown);
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */
