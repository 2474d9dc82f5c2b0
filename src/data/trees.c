/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether heads are trees. A cycle is found by climbing: every word is climbed from once, up to the
 * root or to a word that was met before; met in the same climb, it closes a cycle. */
#include "data/dataset.h"

#include "base/text.h"
#include <inttypes.h>

/* Words of a cycle that a message names. */
enum { NAMED_WORDS = 8 };

typedef struct sentence {
    const medley_dataset *dataset;
    size_t number; /* from 0 */
    size_t first;  /* row of its first word */
    size_t length;
    const int32_t *head; /* [length], that of word 1 first */
} sentence;

static sentence sentence_at(const medley_dataset *dataset, size_t number)
{
    const size_t first = md_dataset_unit_start(dataset, number);
    const size_t next = md_dataset_unit_start(dataset, number + 1);
    return (sentence){dataset, number, first, next - first, dataset->head + first};
}

/* what: is wrong with a word (from 1). */
static medley_status fail_at_word(const sentence *s, size_t word, const md_text *what,
                                  medley_error *error)
{
    const medley_dataset *dataset = s->dataset;
    const size_t line = dataset->line != NULL ? dataset->line[s->first + word - 1] : 0;
    if (what->failed)
        return md_fail_memory(error, what->capacity);
    if (line > 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, line, "%s", what->data);
    return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0, "sentence %zu, word %zu: %s",
                      s->number + 1, word, what->data);
}

static medley_status check_given(const sentence *s, medley_error *error)
{
    for (size_t word = 1; word <= s->length; word++) {
        const int32_t head = s->head[word - 1];
        if (head >= 0 && (size_t)head <= s->length)
            continue;
        MD_CLEARED(md_text_clear) md_text what = {0};
        if (head == -1)
            md_text_addf(&what, "the HEAD is not given; training needs one for every word");
        else
            md_text_addf(&what,
                         "the HEAD is %" PRId32 " but the sentence has %zu words; a word of it or "
                         "0 is expected",
                         head, s->length);
        return fail_at_word(s, word, &what, error);
    }
    return MEDLEY_OK;
}

static medley_status check_roots(const sentence *s, bool many_roots, medley_error *error)
{
    size_t root = 0;
    MD_CLEARED(md_text_clear) md_text what = {0};
    for (size_t word = 1; word <= s->length; word++) {
        if (s->head[word - 1] != 0)
            continue;
        if (root > 0 && !many_roots) {
            md_text_addf(&what,
                         "two words hang from the root (HEAD 0): %zu and %zu; one is expected; use "
                         "`roots=many` if several are meant",
                         root, word);
            return fail_at_word(s, word, &what, error);
        }
        root = word;
    }
    if (root > 0)
        return MEDLEY_OK;
    md_text_addf(&what,
                 "no word hangs from the root; one with HEAD 0 is expected in every sentence");
    return fail_at_word(s, 1, &what, error);
}

/* From the smallest word of the cycle that `inside` lies on: 3 -> 5 -> 3. */
static medley_status fail_with_cycle(const sentence *s, size_t inside, medley_error *error)
{
    size_t start = inside;
    size_t length = 1;
    for (size_t w = (size_t)s->head[inside - 1]; w != inside; w = (size_t)s->head[w - 1]) {
        start = w < start ? w : start;
        length++;
    }
    MD_CLEARED(md_text_clear) md_text what = {0};
    md_text_addf(&what, "the heads form a cycle: %zu", start);
    size_t word = start;
    for (size_t i = 1; i < length && i < NAMED_WORDS; i++) {
        word = (size_t)s->head[word - 1];
        md_text_addf(&what, " -> %zu", word);
    }
    md_text_addf(&what, "%s -> %zu; a sentence must be a tree",
                 length > NAMED_WORDS ? " -> ..." : "", start);
    return fail_at_word(s, start, &what, error);
}

/* met[longest] climb, from 1, in which a word was met; those of other sentences are no matter. */
static medley_status check_cycles(const sentence *s, size_t *met, medley_error *error)
{
    for (size_t word = 1; word <= s->length; word++)
        met[word - 1] = 0;
    for (size_t from = 1; from <= s->length; from++) {
        size_t word = from;
        while (word != 0 && met[word - 1] == 0) {
            met[word - 1] = from;
            word = (size_t)s->head[word - 1];
        }
        if (word != 0 && met[word - 1] == from)
            return fail_with_cycle(s, word, error);
    }
    return MEDLEY_OK;
}

medley_status md_dataset_check_trees(const medley_dataset *dataset, bool many_roots,
                                     medley_error *error)
{
    MD_OWNED(free) size_t *met = NULL;
    const size_t count = md_dataset_units(dataset);
    size_t longest = 0;
    if (dataset->head == NULL)
        return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                          "the data have no heads of words; dependency trees are read from CoNLL-U "
                          "files");
    for (size_t i = 0; i < count; i++) {
        const size_t length = sentence_at(dataset, i).length;
        longest = md_max(longest, length);
    }
    MEDLEY_TRY(md_new(&met, longest, sizeof *met, error));
    for (size_t i = 0; i < count; i++) {
        const sentence s = sentence_at(dataset, i);
        MEDLEY_TRY(check_given(&s, error));
        MEDLEY_TRY(check_roots(&s, many_roots, error));
        MEDLEY_TRY(check_cycles(&s, met, error));
    }
    return MEDLEY_OK;
}
