/* SPDX-License-Identifier: BSD-3-Clause */
/* Which parts of second order a tree has (heads.h). */
#include "structure/tree.h"

enum { MOST = 3 }; /* of a word: its sibling, the end, its grandparent */

/* The next word from h that is nearer to it than m; 0: none. */
static size_t find_inner(const int32_t *heads, size_t h, size_t m)
{
    size_t i = m;
    while (i != h) {
        i = h < m ? i - 1 : i + 1;
        if (i != h && (size_t)heads[i - 1] == h)
            return i;
    }
    return 0;
}

static bool is_last(const int32_t *heads, size_t words, size_t h, size_t m)
{
    for (size_t i = h < m ? m + 1 : m - 1; i > 0 && i <= words; i = h < m ? i + 1 : i - 1)
        if ((size_t)heads[i - 1] == h)
            return false;
    return true;
}

/* Heads that were not left to choose from have arcs only. */
static size_t parts_of_word(const md_sentence *sentence, const int32_t *heads, size_t m,
                            uint32_t parts[MOST])
{
    const size_t h = (size_t)heads[m - 1];
    const size_t arc = md_sentence_arc(sentence, m, h);
    size_t count = 0;
    if (arc == SIZE_MAX)
        return 0;
    const size_t inner = find_inner(heads, h, m);
    const size_t inner_arc = inner > 0 ? md_sentence_arc(sentence, inner, h) : SIZE_MAX;
    const size_t above = h > 0 ? md_sentence_arc(sentence, h, (size_t)heads[h - 1]) : SIZE_MAX;
    parts[count++] = (uint32_t)md_sentence_sibling(sentence, arc, inner_arc);
    if (is_last(heads, sentence->words, h, m))
        parts[count++] = (uint32_t)md_sentence_end(sentence, arc);
    if (above != SIZE_MAX)
        parts[count++] = (uint32_t)(sentence->siblings + md_sentence_grand(sentence, arc, above));
    return count;
}

size_t md_tree_second_of(const md_sentence *sentence, const int32_t *heads, uint32_t *parts)
{
    size_t count = 0;
    for (size_t m = 1; m <= sentence->words; m++)
        count += parts_of_word(sentence, heads, m, parts + count);
    return count;
}

double md_tree_second_score(const md_tree *tree, const int32_t *heads)
{
    const float *score = md_tree_second(tree);
    double sum = 0;
    for (size_t m = 1; m <= tree->words; m++) {
        uint32_t parts[MOST];
        const size_t count = parts_of_word(&tree->sentence, heads, m, parts);
        for (size_t i = 0; i < count; i++)
            sum += (double)score[parts[i]];
    }
    return sum;
}
