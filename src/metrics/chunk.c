/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding and counting chunks. The boundaries are those of conlleval (Tjong Kim Sang and Buchholz,
 * "Introduction to the CoNLL-2000 Shared Task: Chunking"), which makes sense of any succession of
 * labels: where the type changes a chunk ends and another begins, whatever the prefixes say. */
#include "metrics/chunk.h"

static const md_chunk_label OUTSIDE = {'O', -1};

/* The prefix of a label `B-NP` under the one name it has here; '\0' if there is none. */
static char prefix_of(const char *name)
{
    static const char known[] = "BIESLU";
    static const char same[] = "BIESES";
    const char *place = name[0] != '\0' ? strchr(known, name[0]) : NULL;
    if (place == NULL || name[1] != '-' || name[2] == '\0')
        return '\0';
    return same[place - known];
}

bool md_chunk_labels(const md_strings *names)
{
    size_t chunks = 0;
    for (size_t i = 0; i < names->count; i++) {
        const bool is_chunk = prefix_of(names->items[i]) != '\0';
        if (!is_chunk && strcmp(names->items[i], "O") != 0)
            return false;
        chunks += is_chunk;
    }
    return chunks > 0;
}

medley_status md_chunk_scheme_init(md_chunk_scheme *scheme, const md_strings *names,
                                   medley_error *error)
{
    MD_CLEARED(md_chunk_scheme_clear) md_chunk_scheme made = {.label_count = names->count};
    *scheme = (md_chunk_scheme){0};
    MEDLEY_TRY(md_new(&made.labels, names->count, sizeof *made.labels, error));
    for (size_t i = 0; i < names->count; i++) {
        const char prefix = prefix_of(names->items[i]);
        made.labels[i] = OUTSIDE;
        if (prefix == '\0')
            continue;
        const char *type = names->items[i] + 2;
        made.labels[i].prefix = prefix;
        MEDLEY_TRY(md_strings_put(&made.types, type, strlen(type), &made.labels[i].type, error));
    }
    *scheme = md_take(&made);
    return MEDLEY_OK;
}

void md_chunk_scheme_clear(md_chunk_scheme *scheme)
{
    free(scheme->labels);
    md_strings_clear(&scheme->types);
    *scheme = (md_chunk_scheme){0};
}

static md_chunk_label label_at(const md_chunk_scheme *scheme, const int32_t *labels, size_t place)
{
    const int32_t label = labels[place];
    return label >= 0 && (size_t)label < scheme->label_count ? scheme->labels[label] : OUTSIDE;
}

/* Is there a boundary between two neighbours of one type? */
static bool parts(char before, char after)
{
    return before == 'E' || before == 'S' || after == 'B' || after == 'S';
}

static bool starts(md_chunk_label before, md_chunk_label here)
{
    return here.type >= 0 && (before.type != here.type || parts(before.prefix, here.prefix));
}

static bool ends(md_chunk_label here, md_chunk_label after)
{
    return here.type >= 0 && (here.type != after.type || parts(here.prefix, after.prefix));
}

/* Walks over the sequence once: `agrees` while both have been in chunks with the same first item
 * and the same type. */
void md_chunk_count(const md_chunk_scheme *scheme, const int32_t *given, const int32_t *found,
                    size_t length, md_chunk_counts *counts)
{
    md_chunk_label given_before = OUTSIDE;
    md_chunk_label found_before = OUTSIDE;
    bool agrees = false;
    for (size_t i = 0; i < length; i++) {
        const md_chunk_label given_here = label_at(scheme, given, i);
        const md_chunk_label found_here = label_at(scheme, found, i);
        const bool given_starts = starts(given_before, given_here);
        const bool found_starts = starts(found_before, found_here);
        if (given_starts)
            counts[given_here.type].given++;
        if (found_starts)
            counts[found_here.type].found++;
        if (given_starts || found_starts)
            agrees = given_starts && found_starts && given_here.type == found_here.type;
        const bool is_last = i + 1 == length;
        const bool given_ends =
            ends(given_here, is_last ? OUTSIDE : label_at(scheme, given, i + 1));
        const bool found_ends =
            ends(found_here, is_last ? OUTSIDE : label_at(scheme, found, i + 1));
        if (agrees && given_ends && found_ends)
            counts[given_here.type].correct++;
        agrees = agrees && !given_ends && !found_ends;
        given_before = given_here;
        found_before = found_here;
    }
}

md_chunk_counts md_chunk_total(const md_chunk_counts *counts, size_t count)
{
    md_chunk_counts total = {0};
    for (size_t i = 0; i < count; i++) {
        total.given += counts[i].given;
        total.found += counts[i].found;
        total.correct += counts[i].correct;
    }
    return total;
}

double md_chunk_precision(md_chunk_counts counts)
{
    return counts.found > 0 ? (double)counts.correct / (double)counts.found : 0;
}

double md_chunk_recall(md_chunk_counts counts)
{
    return counts.given > 0 ? (double)counts.correct / (double)counts.given : 0;
}

/* 2PR / (P + R) with the divisions cancelled. */
double md_chunk_f1(md_chunk_counts counts)
{
    const size_t sum = counts.given + counts.found;
    return sum > 0 ? 2 * (double)counts.correct / (double)sum : 0;
}
