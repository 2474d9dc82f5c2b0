/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/heads.h"

void md_heads_free(md_heads *heads)
{
    if (heads == NULL)
        return;
    free(heads->first);
    free(heads->head);
    free(heads->rank);
    free(heads->sibling);
    free(heads->grand);
    free(heads->siblings);
    free(heads->grands);
    free(heads);
}

/* ---- numbers ---- */

/* What is done with the arcs of a sentence: words from left to right, where each head counts how
 * many may hang from it, first on its right side; then back for those on its left. */
struct walk {
    size_t words;
    const size_t *first;  /* [words + 1] */
    const uint16_t *head; /* by number of the arc */
    uint32_t *count;      /* [words + 1] */
};

static void rank_side(const struct walk *walk, bool right, uint16_t *rank)
{
    memset(walk->count, 0, (walk->words + 1) * sizeof *walk->count);
    for (size_t i = 1; i <= walk->words; i++) {
        const size_t m = right ? i : walk->words + 1 - i;
        for (size_t a = walk->first[m - 1]; a < walk->first[m]; a++) {
            const size_t h = walk->head[a];
            if ((h < m) == right)
                rank[a] = (uint16_t)walk->count[h]++;
        }
    }
}

size_t md_heads_count_parts(size_t words, const size_t *first, const uint16_t *head,
                            uint32_t *scratch)
{
    uint32_t *left = scratch;
    uint32_t *right = scratch + words + 1;
    size_t parts = 0;
    memset(scratch, 0, 2 * (words + 1) * sizeof *scratch);
    for (size_t m = 1; m <= words; m++)
        for (size_t a = first[m - 1]; a < first[m]; a++) {
            const size_t h = head[a];
            (h < m ? right : left)[h]++;
            parts += h > 0 ? first[h] - first[h - 1] : 0;
        }
    for (size_t h = 0; h <= words; h++)
        parts += (size_t)left[h] * (left[h] + 3) / 2 + (size_t)right[h] * (right[h] + 3) / 2;
    return parts;
}

/* ---- parts ---- */

static uint16_t turn_of(size_t h, size_t m, size_t third)
{
    return (uint16_t)((h < m) + 2 * (third < h) + 4 * (third < m));
}

static md_triple triple_of(size_t h, size_t m, size_t third)
{
    return (md_triple){(uint16_t)h, (uint16_t)m, (uint16_t)third, turn_of(h, m, third)};
}

static medley_status count_parts(md_heads *heads, const size_t *start, size_t sentences,
                                 medley_error *error)
{
    size_t siblings = 0;
    size_t grands = 0;
    for (size_t s = 0; s < sentences; s++) {
        const size_t row = start[s] - start[0];
        const size_t words = start[s + 1] - start[s];
        const size_t siblings_before = siblings;
        const size_t grands_before = grands;
        for (size_t m = 1; m <= words; m++)
            for (size_t a = heads->first[row + m - 1]; a < heads->first[row + m]; a++) {
                const size_t h = heads->head[a];
                heads->sibling[a] = (uint32_t)siblings;
                heads->grand[a] = (uint32_t)grands;
                siblings += (size_t)heads->rank[a] + 2;
                grands += h > 0 ? heads->first[row + h] - heads->first[row + h - 1] : 0;
            }
        heads->most_siblings = md_max(heads->most_siblings, siblings - siblings_before);
        heads->most_grands = md_max(heads->most_grands, grands - grands_before);
    }
    heads->sibling[heads->first[heads->rows]] = (uint32_t)siblings;
    heads->grand[heads->first[heads->rows]] = (uint32_t)grands;
    if (siblings > UINT32_MAX || grands > UINT32_MAX)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "%zu parts of second order are too many; use `order=1` or fewer sentences",
                       siblings + grands);
    MEDLEY_TRY(md_new(&heads->siblings, siblings, sizeof *heads->siblings, error));
    return md_new(&heads->grands, grands, sizeof *heads->grands, error);
}

/* Siblings of an arc: all arcs from its head on its side that are nearer. */
static void fill_siblings(md_heads *heads, size_t row, size_t words)
{
    for (size_t m = 1; m <= words; m++)
        for (size_t a = heads->first[row + m - 1]; a < heads->first[row + m]; a++) {
            const size_t h = heads->head[a];
            md_triple *to = heads->siblings + heads->sibling[a];
            const size_t end = (size_t)heads->rank[a] + 1;
            to[0] = triple_of(h, m, MD_NO_SIBLING);
            to[end] = triple_of(h, m, words + 1);
            /* the part of those that are farther away, of which m is the sibling */
            for (size_t o = h < m ? m + 1 : 1; o <= (h < m ? words : m - 1); o++)
                for (size_t b = heads->first[row + o - 1]; b < heads->first[row + o]; b++)
                    if (heads->head[b] == h)
                        heads->siblings[heads->sibling[b] + 1 + heads->rank[a]] =
                            triple_of(h, o, m);
        }
}

static void fill_grands(md_heads *heads, size_t row, size_t words)
{
    for (size_t m = 1; m <= words; m++)
        for (size_t a = heads->first[row + m - 1]; a < heads->first[row + m]; a++) {
            const size_t h = heads->head[a];
            md_triple *to = heads->grands + heads->grand[a];
            for (size_t b = h > 0 ? heads->first[row + h - 1] : 0;
                 h > 0 && b < heads->first[row + h]; b++)
                *to++ = triple_of(h, m, heads->head[b]);
        }
}

static medley_status make_parts(md_heads *heads, const size_t *start, size_t sentences,
                                medley_error *error)
{
    const size_t arcs = heads->first[heads->rows];
    size_t longest = 0;
    for (size_t s = 0; s < sentences; s++)
        longest = md_max(longest, start[s + 1] - start[s]);
    MD_OWNED(free) uint32_t *count = NULL;
    MEDLEY_TRY(md_new(&count, longest + 1, sizeof *count, error));
    MEDLEY_TRY(md_new(&heads->rank, arcs, sizeof *heads->rank, error));
    MEDLEY_TRY(md_new(&heads->sibling, arcs + 1, sizeof *heads->sibling, error));
    MEDLEY_TRY(md_new(&heads->grand, arcs + 1, sizeof *heads->grand, error));
    for (size_t s = 0; s < sentences; s++) {
        const struct walk walk = {.words = start[s + 1] - start[s],
                                  .first = heads->first + (start[s] - start[0]),
                                  .head = heads->head,
                                  .count = count};
        rank_side(&walk, true, heads->rank);
        rank_side(&walk, false, heads->rank);
    }
    MEDLEY_TRY(count_parts(heads, start, sentences, error));
    for (size_t s = 0; s < sentences; s++) {
        fill_siblings(heads, start[s] - start[0], start[s + 1] - start[s]);
        fill_grands(heads, start[s] - start[0], start[s + 1] - start[s]);
    }
    return MEDLEY_OK;
}

medley_status md_heads_create(md_heads **result, const size_t *start, size_t sentences,
                              const size_t *first, const uint16_t *head, bool second,
                              medley_error *error)
{
    MD_OWNED(md_heads_free) md_heads *heads = NULL;
    MEDLEY_TRY(md_new(&heads, 1, sizeof *heads, error));
    heads->rows = start[sentences] - start[0];
    MEDLEY_TRY(md_new_copy(&heads->first, first, (heads->rows + 1) * sizeof *heads->first, error));
    MEDLEY_TRY(md_new_copy(&heads->head, head, first[heads->rows] * sizeof *heads->head, error));
    if (second)
        MEDLEY_TRY(make_parts(heads, start, sentences, error));
    *result = md_take(&heads);
    return MEDLEY_OK;
}
