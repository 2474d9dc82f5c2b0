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

static double size_of(const medley_block_info *block, bool by_norm)
{
    return by_norm ? block->norm : block->weight;
}

/* The block that follows in the order of weights, or of norms; SIZE_MAX: the first one. Takes no
 * memory: what was learnt is shown even if there is none left. */
static size_t next_block(const medley_summary *summary, bool by_norm, size_t previous)
{
    const struct ranked last = {
        previous < summary->block_count ? size_of(&summary->blocks[previous], by_norm) : INFINITY,
        previous};
    struct ranked next = {-INFINITY, SIZE_MAX};
    for (size_t m = 0; m < summary->block_count; m++) {
        const struct ranked block = {size_of(&summary->blocks[m], by_norm), m};
        if ((previous == SIZE_MAX || compare_ranked(&last, &block) < 0) &&
            compare_ranked(&block, &next) < 0)
            next = block;
    }
    return next.index;
}

/* Characters of UTF-8, not bytes. */
static size_t count_characters(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* The byte at which character number `count` begins. */
static const char *skip_characters(const char *text, size_t count)
{
    while (*text != '\0' && (count > 0 || ((unsigned char)*text & 0xC0) == 0x80)) {
        count -= count > 0 && ((unsigned char)text[1] & 0xC0) != 0x80;
        text++;
    }
    return text;
}

enum { WIDEST_NAME = 44 };

/* A name and blanks up to the width; of a longer one the beginning and the end, where views are. */
static void print_name(FILE *file, const char *name, size_t width)
{
    enum { BEGINNING = 24 };
    const size_t length = count_characters(name);
    if (length <= width) {
        fprintf(file, "%s%*s", name, (int)(width - length), "");
        return;
    }
    fprintf(file, "%.*s…%s", (int)(skip_characters(name, BEGINNING) - name), name,
            skip_characters(name, length - (width - BEGINNING - 1)));
}

/* Where all weights are alike, as under l2, norms tell more. */
static bool are_weights_alike(const medley_summary *summary)
{
    double largest = 0;
    double least = INFINITY;
    for (size_t b = 0; b < summary->block_count; b++) {
        const double weight = summary->blocks[b].weight;
        largest = weight > largest ? weight : largest;
        least = weight < least ? weight : least;
    }
    return summary->block_count > 1 && least > 0 && least >= largest * (1 - 1e-9);
}

/* What the last column counts: of kernels support rows, of all others weights. */
static const char *count_title(const medley_summary *summary)
{
    if (summary->support_rows == 0)
        return "features";
    return summary->has_weights ? "rows/features" : "support rows";
}

void cli_print_blocks(FILE *file, const medley_summary *summary, size_t top)
{
    const size_t shown = top < summary->block_count ? top : summary->block_count;
    const bool by_norm = are_weights_alike(summary);
    const size_t first = next_block(summary, by_norm, SIZE_MAX);
    const char *title = count_title(summary);
    const double largest = shown > 0 ? size_of(&summary->blocks[first], by_norm) : 0;
    size_t width = strlen("block");
    size_t b = first;
    for (size_t i = 0; i < shown; i++, b = next_block(summary, by_norm, b)) {
        const size_t length = count_characters(summary->blocks[b].name);
        width = length > width ? length : width;
    }
    width = width < WIDEST_NAME ? width : WIDEST_NAME;
    fprintf(file, "%-*s  weight        norm  %s\n", (int)width, "block", title);
    b = first;
    for (size_t i = 0; i < shown; i++, b = next_block(summary, by_norm, b)) {
        const medley_block_info *block = &summary->blocks[b];
        char bar[128];
        print_name(file, block->name, width);
        fprintf(file, "  %6.4f  %10.4g  %*zu  %s\n", block->weight, block->norm, (int)strlen(title),
                block->features,
                cli_bar(bar, largest > 0 ? size_of(block, by_norm) / largest : 0, 24));
    }
    if (shown < summary->block_count)
        fprintf(file, "... and %zu more (medley inspect --top N shows them)\n",
                summary->block_count - shown);
    if (by_norm)
        fprintf(file, "(the penalty weighs all blocks alike: bars are norms)\n");
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */
