/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables that training had: how many columns, what they were called, and which column held the
 * labels. Other data whose columns have names too are put into the same order by these names, so
 * that the places of columns in a file do not matter. */
#ifndef MD_KNOWN_TABLES_H
#define MD_KNOWN_TABLES_H

#include "base/pack.h"
#include "data/dataset.h"

typedef struct md_known_table {
    char *name;       /* of the table, "" for DATA */
    char *label_name; /* of the label's column in its file; NULL: it has none */
    size_t columns;
    md_first_index first;
    md_strings names; /* [columns]; empty: known by number, or (sparse tables) the views have them
                       */
} md_known_table;

typedef struct md_known_tables {
    md_known_table *items;
    size_t count;
} md_known_tables;

void md_known_tables_clear(md_known_tables *known);
medley_status md_known_tables_make(md_known_tables *known, const medley_dataset *dataset,
                                   medley_error *error);
medley_status md_known_tables_copy(md_known_tables *copy, const md_known_tables *known,
                                   medley_error *error);
/* NULL: training had no such table. */
const md_known_table *md_known_tables_find(const md_known_tables *known, const char *name);

/* As bytes for a model file, and back: false where the bytes make no sense; in tells why.
 * has_first: the bytes have `first`. */
void md_known_tables_pack(md_text *out, const md_known_tables *known);
bool md_known_tables_unpack(md_known_tables *known, md_unpack *in, bool has_first);

/* A data set whose tables have their columns in the order of training. */
typedef struct md_aligned {
    medley_dataset dataset; /* borrows everything but tables */
    md_matrix *made;        /* [table_count] those that had another order; empty: borrowed */
} md_aligned;

/* Tables without names, on either side, and those that training did not have stay as they are.
 * Columns that training did not have are left out; those that are missing are an error that names
 * them, but in sparse tables, whose missing entries are 0. */
medley_status md_align_tables(md_aligned *aligned, const md_known_tables *known,
                              const medley_dataset *dataset, medley_error *error);
void md_aligned_clear(md_aligned *aligned);

#endif
