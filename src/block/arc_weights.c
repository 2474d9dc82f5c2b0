/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loop of parsing. For a look-up it must move one cache line of weights from wherever it
 * is, and compute a handful of integer operations, which run for all heads of a word at once. All
 * slots of a sentence come first, in vectors, and memory is asked for them; then they are added up:
 * that is twice as fast as waiting for each word's. */
#include "block/arc_weights.h"

#include "base/vector.h"

enum { CHUNK = 1024 }; /* arcs whose slots are computed and asked for before they are looked up */

/* What the features of one word's arcs are made of; heads h = 0 .. */
struct word {
    const uint32_t *head, *distance, *arc;
    uint32_t modifier;
};

static struct word word_of(const md_arc_key *key, size_t m)
{
    return (struct word){.head = key->head,
                         .distance = key->distance - m,
                         .arc = key->arc ? key->arc + (m - 1) * (key->length + 1) : NULL,
                         .modifier = key->modifier[m]};
}

MD_VECTOR_VOID(find_arc_slots,
               (uint32_t * slot, const struct word *word, size_t first, size_t count,
                uint32_t shift),
               (slot, word, first, count, shift))
{
    const uint32_t *head = word->head + first;
    const uint32_t *distance = word->distance + first;
    const uint32_t modifier = word->modifier;
    if (word->arc == NULL) {
#pragma omp simd
        for (size_t i = 0; i < count; i++)
            slot[i] = md_arc_mix(head[i] + distance[i] + modifier) >> shift;
        return;
    }
    const uint32_t *arc = word->arc + first;
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        slot[i] = md_arc_mix(head[i] + distance[i] + arc[i] + modifier) >> shift;
}

/* Where weights are: floats, or halves of them. */
struct table {
    bool halved;
    const float *weight;
    const uint16_t *half;
    uint32_t shift;
    float factor; /* of weight */
};

static float look_up(const struct table *table, uint32_t key)
{
    const uint32_t slot = md_arc_mix(key) >> table->shift;
    return table->halved ? md_float_of_half(table->half[slot])
                         : table->factor * table->weight[slot];
}

/* Asks for the lines of memory that the slots are in. */
static void ask_for(const struct table *table, const uint32_t *slot, size_t count)
{
    if (table->halved)
        for (size_t i = 0; i < count; i++)
            __builtin_prefetch(table->half + slot[i]);
    else
        for (size_t i = 0; i < count; i++)
            __builtin_prefetch(table->weight + slot[i]);
}

static void add_slots(float *score, const struct table *table, const uint32_t *slot, size_t count)
{
    if (table->halved)
        for (size_t i = 0; i < count; i++)
            score[i] += md_float_of_half(table->half[slot[i]]);
    else
        for (size_t i = 0; i < count; i++)
            score[i] += table->factor * table->weight[slot[i]];
}

/* One feature for each arc. Scores of one word's arcs follow those of the word before. */
static void add_words(float *score, const md_arc_key *key, md_arc_words words,
                      const struct table *table)
{
    const size_t heads = key->length + 1;
    uint32_t slot[CHUNK];
    size_t used = 0;
    score += (words.first - 1) * heads;
    for (size_t m = words.first; m < words.end; m++) {
        const struct word word = word_of(key, m);
        for (size_t first = 0; first < heads;) {
            const size_t room = CHUNK - used;
            const size_t count = heads - first < room ? heads - first : room;
            find_arc_slots(slot + used, &word, first, count, table->shift);
            ask_for(table, slot + used, count);
            used += count;
            first += count;
            if (used == CHUNK) {
                add_slots(score, table, slot, used);
                score += used;
                used = 0;
            }
        }
    }
    add_slots(score, table, slot, used);
}

/* Templates with several features: few, and tables that stay in the cache. */
static void add_bags_of_word(float *score, const struct word *word, size_t m, const md_arc_key *key,
                             const struct table *table)
{
    for (size_t h = 0; h <= key->length; h++) {
        const uint32_t base =
            word->head[h] + word->distance[h] + word->modifier + (word->arc ? word->arc[h] : 0);
        uint32_t hash[MD_ARC_MOST];
        const size_t count = md_arc_bag_of(key, m, h, hash);
        float sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += look_up(table, base + hash[i]);
        score[h] += sum;
    }
}

static void add_table(float *score, const md_arc_key *key, md_arc_words words,
                      const struct table *table)
{
    const size_t heads = key->length + 1;
    if (key->bag == MD_ARC_NO_BAG) {
        add_words(score, key, words, table);
        return;
    }
    score += (words.first - 1) * heads;
    for (size_t m = words.first; m < words.end; m++, score += heads) {
        const struct word word = word_of(key, m);
        add_bags_of_word(score, &word, m, key, table);
    }
}

void md_arc_add_weights(float *score, const md_arc_key *key, md_arc_words words,
                        const float *weight, size_t bits, float factor)
{
    const struct table table = {.weight = weight, .shift = 32 - (uint32_t)bits, .factor = factor};
    add_table(score, key, words, &table);
}

void md_arc_add_halves(float *score, const md_arc_key *key, const uint16_t *half, size_t bits)
{
    const struct table table = {.halved = true, .half = half, .shift = 32 - (uint32_t)bits};
    add_table(score, key, md_arc_all_words(key), &table);
}

/* ---- some heads only, and second order ---- */

/* Slots are gathered, asked for and then looked up, as above. */
struct pending {
    uint32_t slot[CHUNK];
    uint32_t place[CHUNK]; /* of the score */
    size_t count;
};

static struct table plain_table(const md_arc_table *table)
{
    return (struct table){.halved = table->weight == NULL,
                          .weight = table->weight,
                          .half = table->half,
                          .shift = 32 - (uint32_t)table->bits,
                          .factor = table->factor};
}

static void add_pending(float *score, struct pending *pending, const struct table *table)
{
    if (table->halved)
        for (size_t i = 0; i < pending->count; i++)
            score[pending->place[i]] += md_float_of_half(table->half[pending->slot[i]]);
    else
        for (size_t i = 0; i < pending->count; i++)
            score[pending->place[i]] += table->factor * table->weight[pending->slot[i]];
    pending->count = 0;
}

void md_arc_add_heads(float *score, const md_arc_key *key, md_arc_words words,
                      const md_sentence *sentence, const md_arc_table *to)
{
    const struct table table = plain_table(to);
    const size_t width = key->length + 1;
    struct pending pending;
    pending.count = 0;
    for (size_t m = words.first; m < words.end; m++)
        for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1);
             a++) {
            const size_t h = sentence->heads->head[a];
            uint32_t *slot = pending.slot + pending.count;
            const size_t count = md_arc_slots(slot, key, m, h, to->bits);
            ask_for(&table, slot, count);
            for (size_t i = 0; i < count; i++)
                pending.place[pending.count++] = (uint32_t)((m - 1) * width + h);
            if (pending.count > CHUNK - MD_ARC_MOST)
                add_pending(score, &pending, &table);
        }
    add_pending(score, &pending, &table);
}

void md_arc_add_triples(float *score, const md_arc_key *key, const md_triple *parts, size_t count,
                        md_arc_parts kind, const md_arc_table *to)
{
    const struct table table = plain_table(to);
    uint32_t slot[CHUNK];
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t some = count - first < CHUNK ? count - first : CHUNK;
        if (kind == MD_ARC_SIBLINGS) /* twice, so that the loop does not ask */
            for (size_t i = 0; i < some; i++)
                slot[i] = md_arc_triple_slot(key, parts[first + i], MD_ARC_SIBLINGS, table.shift);
        else
            for (size_t i = 0; i < some; i++)
                slot[i] = md_arc_triple_slot(key, parts[first + i], MD_ARC_GRANDS, table.shift);
        ask_for(&table, slot, some);
        add_slots(score + first, &table, slot, some);
    }
}
