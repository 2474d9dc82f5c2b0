/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loop of parsing: weights looked up for all arcs of random sentences of 20 words, by 507
 * templates with 2^18 slots each, as training does it (floats, a sentence at a time, all templates)
 * and as parsing does it (halves, some hundred sentences at a time, template by template), on one
 * and two threads. Beside it what the machine can do: as many reads at random places that do not
 * depend on each other and cost nothing to compute, of the whole table for training and of the
 * table of one template after the other for parsing. Words have the frequencies of English, so
 * look-ups repeat where random reads do not: the ratio may be above 1. Best of several repeats; a
 * table and a line of JSON for each case. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "block/arc_weights.h"
#include "data/dataset.h"
#include "feature/arc.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEED = 1,
    WORDS = 20,                  /* of a sentence */
    PARTS = WORDS * (WORDS + 1), /* of a sentence: arcs, and the places that are none */
    CHUNK = 143,                 /* sentences that are parsed together: some 60,000 arcs */
    CHUNKS = 2,
    SENTENCES = CHUNK * CHUNKS,
    BITS = 18,
    MOST_THREADS = 2,
    REPEATS = 5,
    PLACES = 4096 /* random numbers that stay in the nearest cache */
};

struct bench {
    md_arcs *arcs;
    size_t templates, threads;
    double reads;         /* of all sentences */
    const float *weight;  /* [templates][2^BITS], or */
    const uint16_t *half; /* the same */
    float *score;         /* [SENTENCES][PARTS] */
    uint32_t place[PLACES];
};

static volatile float sink; /* keeps what was read alive */

static void check(medley_status status, const medley_error *error)
{
    if (status < 0) {
        fprintf(stderr, "bench_arcs: %s\n", error->message);
        exit(1);
    }
}

static void *allocate(size_t count, size_t size)
{
    void *memory = md_alloc_aligned(count, size);
    if (memory == NULL) {
        fprintf(stderr, "bench_arcs: not enough memory: %zu MB are needed\n", count * size >> 20);
        exit(1);
    }
    return memory;
}

/* ---- sentences ---- */

/* A number in 0..count-1 whose frequency falls with its rank as that of words does. */
static size_t draw_rank(md_random *random, size_t count)
{
    const double rank = exp(md_random_uniform(random) * log((double)count + 1)) - 1;
    return rank < (double)count ? (size_t)rank : count - 1;
}

static void draw_word(medley_dataset *words, size_t row, md_random *random)
{
    static const char *const tags[] = {"NOUN", "PUNCT", "VERB", "PRON",  "ADP",   "DET",
                                       "ADJ",  "AUX",   "ADV",  "PROPN", "CCONJ", "PART",
                                       "NUM",  "SCONJ", "X",    "INTJ",  "SYM"};
    enum {
        FORM = 1,
        LEMMA,
        UPOS,
        XPOS,
        FEATS,
        VOCABULARY = 20000,
        TAGS = sizeof tags / sizeof *tags
    };
    const size_t word = draw_rank(random, VOCABULARY);
    const size_t tag = md_random_below(random, 10) > 0 ? word % TAGS : draw_rank(random, TAGS);
    for (size_t c = 0; c < MD_ARC_COLUMNS; c++) {
        char text[32] = "_";
        if (c == FORM || c == LEMMA)
            snprintf(text, sizeof text, "%zu-word", c == FORM ? word : word - word % 3);
        else if (c == UPOS)
            snprintf(text, sizeof text, "%s", tags[tag]);
        else if (c == XPOS || c == FEATS)
            snprintf(text, sizeof text, "%zu", tag + TAGS * (word % (c == XPOS ? 3 : 5)));
        const int32_t id = md_strings_add(&words->token_values[c], text, strlen(text));
        check(id < 0 ? MEDLEY_FAILED : MEDLEY_OK, &(medley_error){.message = "out of memory"});
        words->token[row * MD_ARC_COLUMNS + c] = id;
    }
}

static medley_dataset *draw_sentences(void)
{
    const size_t rows = (size_t)SENTENCES * WORDS;
    medley_error error = {0};
    medley_dataset *words = NULL;
    md_random random;
    md_random_seed(&random, SEED);
    check(medley_dataset_create(&words, &error), &error);
    words->sequence_start = md_calloc(SENTENCES + 1, sizeof *words->sequence_start);
    words->token = md_calloc(rows * MD_ARC_COLUMNS, sizeof *words->token);
    words->token_values = md_calloc(MD_ARC_COLUMNS, sizeof *words->token_values);
    if (words->sequence_start == NULL || words->token == NULL || words->token_values == NULL)
        check(MEDLEY_FAILED, &(medley_error){.message = "out of memory"});
    words->rows = rows;
    words->sequence_count = SENTENCES;
    words->token_columns = MD_ARC_COLUMNS;
    for (size_t s = 0; s <= SENTENCES; s++)
        words->sequence_start[s] = s * WORDS;
    for (size_t row = 0; row < rows; row++)
        draw_word(words, row, &random);
    return words;
}

/* Templates with a feature for each tag between look up as many weights, the others one. */
static size_t count_reads(const struct bench *bench)
{
    size_t count = 0;
    for (size_t s = 0; s < SENTENCES; s++)
        for (size_t t = 0; t < bench->templates; t++) {
            const md_arc_key key = md_arcs_key(bench->arcs, s, t);
            for (size_t p = 0; p < PARTS; p++)
                count += key.tags ? (size_t)__builtin_popcount(key.tags[p]) : 1;
        }
    return count;
}

/* ---- what is measured ---- */

static void look_up_sentence(void *context, size_t sentence, size_t worker)
{
    (void)worker;
    const struct bench *bench = context;
    float *score = bench->score + sentence * PARTS;
    for (size_t t = 0; t < bench->templates; t++) {
        const md_arc_key key = md_arcs_key(bench->arcs, sentence, t);
        md_arc_add_weights(score, &key, md_arc_all_words(&key), bench->weight + (t << BITS), BITS,
                           0.5f);
    }
}

static void look_up_chunk(void *context, size_t chunk, size_t worker)
{
    (void)worker;
    const struct bench *bench = context;
    for (size_t t = 0; t < bench->templates; t++)
        for (size_t s = chunk * CHUNK; s < (chunk + 1) * CHUNK; s++) {
            const md_arc_key key = md_arcs_key(bench->arcs, s, t);
            md_arc_add_halves(bench->score + s * PARTS, &key, bench->half + (t << BITS), BITS);
        }
}

/* One number for each run through the places, so that no run has the places of another. */
static uint32_t turn_of(size_t run)
{
    return md_arc_mix((uint32_t)run * 0x9e3779b9u + 1);
}

/* As many reads as a sentence has parts and templates, anywhere in the table. */
static void read_sentence(void *context, size_t sentence, size_t worker)
{
    (void)worker;
    const struct bench *bench = context;
    const uint64_t slots = (uint64_t)bench->templates << BITS;
    const size_t runs = bench->templates * PARTS / PLACES;
    float sum[4] = {0};
    for (size_t r = 0; r < runs; r++) {
        const uint32_t turn = turn_of(sentence * runs + r);
        for (size_t i = 0; i < PLACES; i += 4)
            for (size_t k = 0; k < 4; k++)
                sum[k] += bench->weight[(uint64_t)(bench->place[i + k] ^ turn) * slots >> 32];
    }
    sink = sum[0] + sum[1] + sum[2] + sum[3];
}

/* As many as a chunk has, in the table of each template in turn. */
static void read_chunk(void *context, size_t chunk, size_t worker)
{
    (void)worker;
    const struct bench *bench = context;
    const size_t runs = (size_t)CHUNK * PARTS / PLACES;
    uint32_t sum[4] = {0};
    for (size_t t = 0; t < bench->templates; t++) {
        const uint16_t *table = bench->half + (t << BITS);
        for (size_t r = 0; r < runs; r++) {
            const uint32_t turn = turn_of((chunk * bench->templates + t) * runs + r);
            for (size_t i = 0; i < PLACES; i += 4)
                for (size_t k = 0; k < 4; k++)
                    sum[k] += table[(bench->place[i + k] ^ turn) >> (32 - BITS)];
        }
    }
    sink = (float)(sum[0] + sum[1] + sum[2] + sum[3]);
}

/* ---- cases ---- */

enum { TRAINING, PARSING, CASES };

static const struct {
    const char *name, *key;
    md_parallel_body look_up, read;
    size_t items;
} cases[CASES] = {
    {"training, floats, sentence by sentence", "training", look_up_sentence, read_sentence,
     SENTENCES},
    {"parsing, halves, template by template", "parsing", look_up_chunk, read_chunk, CHUNKS},
};

/* Reads that read_sentence and read_chunk make: whole runs. */
static double plain_reads(const struct bench *bench, size_t which)
{
    const size_t templates = bench->templates;
    const size_t runs = which == TRAINING ? SENTENCES * (templates * PARTS / PLACES)
                                          : CHUNKS * templates * ((size_t)CHUNK * PARTS / PLACES);
    return (double)runs * PLACES;
}

static double time_items(const struct bench *bench, md_parallel_body body, size_t items)
{
    const double begin = md_clock_seconds();
    md_parallel_for(bench->threads, items, body, (void *)bench);
    return md_clock_seconds() - begin;
}

static void run(struct bench *bench, size_t which)
{
    double look_up = INFINITY;
    double plain = INFINITY;
    for (int repeat = 0; repeat < REPEATS; repeat++) { /* in turn: whatever else runs hits both */
        memset(bench->score, 0, (size_t)SENTENCES * PARTS * sizeof *bench->score);
        look_up = fmin(look_up, time_items(bench, cases[which].look_up, cases[which].items));
        plain = fmin(plain, time_items(bench, cases[which].read, cases[which].items));
    }
    const double rate = bench->reads / look_up;
    const double limit = plain_reads(bench, which) / plain;
    printf(
        "%-40s %zu thread%s: %7.1f million look-ups/s, plain random reads %7.1f million/s, ratio "
        "%.2f; %.0f sentences/s\n",
        cases[which].name, bench->threads, bench->threads > 1 ? "s" : " ", rate / 1e6, limit / 1e6,
        rate / limit, SENTENCES / look_up);
    printf("{\"bench\":\"arcs\",\"case\":\"%s\",\"templates\":%zu,\"bits\":%d,\"words\":%d,"
           "\"threads\":%zu,\"lookups_per_second\":%.4g,\"plain_reads_per_second\":%.4g,"
           "\"ratio\":%.3f,\"sentences_per_second\":%.4g}\n",
           cases[which].key, bench->templates, BITS, WORDS, bench->threads, rate, limit,
           rate / limit, SENTENCES / look_up);
}

/* Whatever is in them, but no zeros, which the system might not really have in memory. */
static void run_case(struct bench *bench, size_t which)
{
    const size_t slots = bench->templates << BITS;
    float *weight = which == TRAINING ? allocate(slots, sizeof *weight) : NULL;
    uint16_t *half = which == PARSING ? allocate(slots, sizeof *half) : NULL;
    for (size_t i = 0; weight != NULL && i < slots; i++)
        weight[i] = (float)(i % 251) - 125.5f;
    for (size_t i = 0; half != NULL && i < slots; i++)
        half[i] = md_half_of_float((float)(i % 251) - 125.5f);
    bench->weight = weight;
    bench->half = half;
    for (bench->threads = 1; bench->threads <= MOST_THREADS; bench->threads++)
        run(bench, which);
    free(weight);
    free(half);
}

int main(void)
{
    medley_error error = {0};
    struct bench bench = {.score = allocate((size_t)SENTENCES * PARTS, sizeof(float))};
    md_arc_templates *templates = NULL;
    medley_dataset *dataset = draw_sentences();
    const md_arc_source source = {.dataset = dataset, .count = SENTENCES, .tags = MD_ARC_UPOS};
    check(md_arc_templates_read(&templates, "arc-507", false, &error), &error);
    check(md_arcs_create(&bench.arcs, templates, &source, MOST_THREADS, &error), &error);
    bench.templates = md_arc_templates_count(templates);
    bench.reads = (double)count_reads(&bench);
    md_random random;
    md_random_seed(&random, SEED);
    for (size_t i = 0; i < PLACES; i++)
        bench.place[i] = (uint32_t)md_random_bits(&random);
    printf(
        "%d sentences of %d words, %zu templates: %.0f million look-ups; table %zu MB of floats\n",
        SENTENCES, WORDS, bench.templates, bench.reads / 1e6,
        (bench.templates << BITS) * sizeof(float) >> 20);
    for (size_t which = 0; which < CASES; which++)
        run_case(&bench, which);
    md_arcs_free(bench.arcs);
    md_arc_templates_free(templates);
    medley_dataset_free(dataset);
    free(bench.score);
    return 0;
}
