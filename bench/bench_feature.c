/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast templates become features: making a space with the built-in set "chunk" and applying it
 * to the same words, on one thread, exact and hashed, best of several runs. Without a file the
 * words are drawn at random with the frequencies of English (about 20,000 words, 44 parts of
 * speech). Prints a table and one line of JSON.
 *
 *     bench_feature [FILE] */
#include "base/memory.h"
#include "base/random.h"
#include "data/dataset.h"
#include "feature/feature.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEED = 1, ROWS = 211727, SENTENCE = 24, WORDS = 20000, TAGS = 44, REPEATS = 7 };

typedef struct figures {
    double create_ns, apply_ns; /* per row */
    size_t features, packed;
} figures;

static void stop_if(bool failed, const medley_error *error)
{
    if (!failed)
        return;
    char text[1024];
    medley_error_format(text, sizeof text, error);
    fprintf(stderr, "bench_feature: %s\n", text);
    exit(1);
}

/* A number in 0..count-1 whose frequency falls with its rank as that of words does. */
static size_t draw_rank(md_random *random, size_t count)
{
    const double rank = exp(md_random_uniform(random) * log((double)count + 1)) - 1;
    return rank < (double)count ? (size_t)rank : count - 1;
}

static void draw_row(medley_dataset *words, size_t row, md_random *random)
{
    char text[32];
    const size_t word = draw_rank(random, WORDS);
    /* a word has its usual part of speech most of the time */
    const size_t tag = md_random_below(random, 10) > 0 ? word % TAGS : draw_rank(random, TAGS);
    const size_t number[] = {word, tag};
    for (size_t c = 0; c < 2; c++) {
        const int length = snprintf(text, sizeof text, c == 0 ? "word%zu" : "T%zu", number[c]);
        words->token[row * 2 + c] = md_strings_add(&words->token_values[c], text, (size_t)length);
        stop_if(words->token[row * 2 + c] < 0, &(medley_error){.message = "out of memory"});
    }
}

static medley_dataset *draw_words(void)
{
    medley_error error = {0};
    medley_dataset *words = NULL;
    md_random random;
    md_random_seed(&random, SEED);
    stop_if(medley_dataset_create(&words, &error) < 0, &error);
    words->rows = ROWS;
    words->sequence_count = (ROWS + SENTENCE - 1) / SENTENCE;
    words->sequence_start = md_calloc(words->sequence_count + 1, sizeof *words->sequence_start);
    words->token = md_calloc((size_t)ROWS * 2, sizeof *words->token);
    words->token_values = md_calloc(2, sizeof *words->token_values);
    stop_if(words->sequence_start == NULL || words->token == NULL || words->token_values == NULL,
            &(medley_error){.message = "out of memory"});
    words->token_columns = 2;
    for (size_t s = 0; s <= words->sequence_count; s++)
        words->sequence_start[s] = s * SENTENCE < ROWS ? s * SENTENCE : ROWS;
    for (size_t row = 0; row < ROWS; row++)
        draw_row(words, row, &random);
    return words;
}

static figures measure(const md_templates *templates, const medley_dataset *words, size_t hash_bits)
{
    figures best = {.create_ns = INFINITY, .apply_ns = INFINITY};
    const md_features_options options = {.hash_bits = hash_bits, .threads = 1};
    const double rows = (double)words->rows;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        medley_error error = {0};
        md_features *features = NULL;
        md_feature_ids made = {0}, found = {0};
        md_text bytes = {0};
        const double start = md_clock_seconds();
        stop_if(md_features_create(&features, &made, templates, words, &options, &error) < 0,
                &error);
        const double middle = md_clock_seconds();
        stop_if(md_features_apply(features, &found, words, 1, &error) < 0, &error);
        best.create_ns = fmin(best.create_ns, (middle - start) / rows * 1e9);
        best.apply_ns = fmin(best.apply_ns, (md_clock_seconds() - middle) / rows * 1e9);
        best.features = 0;
        for (size_t b = 0; b < md_templates_count(templates); b++)
            best.features += md_features_count(features, b);
        md_features_pack(&bytes, features);
        best.packed = bytes.length;
        md_text_clear(&bytes);
        md_feature_ids_free(&made);
        md_feature_ids_free(&found);
        md_features_free(features);
    }
    return best;
}

int main(int argc, char **argv)
{
    static const size_t hash_bits[] = {0, 20};
    medley_error error = {0};
    medley_dataset *words = NULL;
    md_templates *templates = NULL;
    md_text json = {0};
    if (argc > 1)
        stop_if(medley_dataset_read(&words, argv[1], NULL, &error) < 0, &error);
    else
        words = draw_words();
    stop_if(md_templates_read(&templates, "chunk", &error) < 0, &error);
    md_text_addf(&json, "{\"bench\": \"feature\", \"seed\": %d, \"rows\": %zu, \"templates\": %zu",
                 SEED, words->rows, md_templates_count(templates));
    for (size_t i = 0; i < sizeof hash_bits / sizeof *hash_bits; i++) {
        const figures best = measure(templates, words, hash_bits[i]);
        const char *name = hash_bits[i] > 0 ? "hashed" : "exact";
        printf("%s: %zu rows, %zu templates, %zu features: create %.0f ns/row (%.3f s in all), "
               "apply %.0f ns/row (%.1f million rows/s), %.1f MB packed\n",
               name, words->rows, md_templates_count(templates), best.features, best.create_ns,
               best.create_ns * (double)words->rows / 1e9, best.apply_ns, 1e3 / best.apply_ns,
               (double)best.packed / 1e6);
        md_text_addf(&json,
                     ", \"%s\": {\"features\": %zu, \"create_ns\": %.1f, \"apply_ns\": %.1f, "
                     "\"packed_bytes\": %zu}",
                     name, best.features, best.create_ns, best.apply_ns, best.packed);
    }
    md_text_addf(&json, ", \"peak_mb\": %.1f}", md_peak_rss_mb());
    puts(json.data != NULL ? json.data : "{}");
    md_text_clear(&json);
    md_templates_free(templates);
    medley_dataset_free(words);
    return 0;
}
