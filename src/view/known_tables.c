/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/known_tables.h"

#include "view/view_internal.h"

static void clear_table(md_known_table *table)
{
    free(table->name);
    free(table->label_name);
    md_strings_clear(&table->names);
}

void md_known_tables_clear(md_known_tables *known)
{
    for (size_t t = 0; known->items != NULL && t < known->count; t++)
        clear_table(&known->items[t]);
    free(known->items);
    *known = (md_known_tables){0};
}

/* What one table is; names may be NULL. */
static medley_status add_table(md_known_tables *known, const char *name, const char *label_name,
                               size_t columns, md_first_index first, const md_strings *names,
                               medley_error *error)
{
    md_known_table *table = &known->items[known->count++];
    table->columns = columns;
    table->first = first;
    MEDLEY_TRY(md_new_text(&table->name, name, strlen(name), error));
    if (label_name != NULL)
        MEDLEY_TRY(md_new_text(&table->label_name, label_name, strlen(label_name), error));
    return names != NULL ? md_strings_copy(&table->names, names, error) : MEDLEY_OK;
}

medley_status md_known_tables_make(md_known_tables *known, const medley_dataset *dataset,
                                   medley_error *error)
{
    MD_CLEARED(md_known_tables_clear) md_known_tables made = {0};
    *known = made;
    MEDLEY_TRY(md_new(&made.items, dataset->table_count, sizeof *made.items, error));
    for (size_t t = 0; t < dataset->table_count; t++) {
        const md_table *table = &dataset->tables[t];
        const bool named = !md_matrix_is_sparse(&table->features) &&
                           table->column_names.count == table->features.columns;
        MEDLEY_TRY(add_table(&made, table->name, table->label_name, table->features.columns,
                             table->first, named ? &table->column_names : NULL, error));
    }
    *known = md_take(&made);
    return MEDLEY_OK;
}

medley_status md_known_tables_copy(md_known_tables *copy, const md_known_tables *known,
                                   medley_error *error)
{
    MD_CLEARED(md_known_tables_clear) md_known_tables made = {0};
    *copy = made;
    MEDLEY_TRY(md_new(&made.items, known->count, sizeof *made.items, error));
    for (size_t t = 0; t < known->count; t++) {
        const md_known_table *table = &known->items[t];
        MEDLEY_TRY(add_table(&made, table->name, table->label_name, table->columns, table->first,
                             &table->names, error));
    }
    *copy = md_take(&made);
    return MEDLEY_OK;
}

const md_known_table *md_known_tables_find(const md_known_tables *known, const char *name)
{
    for (size_t t = 0; t < known->count; t++)
        if (strcmp(known->items[t].name, name) == 0)
            return &known->items[t];
    return NULL;
}

/* ---- in model files ---- */

void md_known_tables_pack(md_text *out, const md_known_tables *known)
{
    md_pack_u64(out, known->count);
    for (size_t t = 0; t < known->count; t++) {
        const md_known_table *table = &known->items[t];
        md_pack_text(out, table->name);
        md_pack_text(out, table->label_name != NULL ? table->label_name : "");
        md_pack_u64(out, table->columns);
        md_pack_u64(out, table->first);
        md_pack_strings(out, &table->names);
    }
}

static bool unpack_table(md_known_table *table, md_unpack *in, bool has_first)
{
    table->name = md_unpack_text(in);
    table->label_name = md_unpack_text(in);
    table->columns = md_unpack_u64(in);
    const uint64_t first = has_first ? md_unpack_u64(in) : MD_NO_INDICES;
    table->first = first <= MD_FROM_ONE ? (md_first_index)first : MD_NO_INDICES;
    md_unpack_strings(in, &table->names);
    if (table->label_name != NULL && table->label_name[0] == '\0') {
        free(table->label_name);
        table->label_name = NULL;
    }
    return !in->bad && table->columns <= INT32_MAX && first <= MD_FROM_ONE &&
           (table->names.count == 0 || table->names.count == table->columns);
}

bool md_known_tables_unpack(md_known_tables *known, md_unpack *in, bool has_first)
{
    enum { LEAST_BYTES = 32 };
    MD_CLEARED(md_known_tables_clear) md_known_tables made = {0};
    const size_t count = md_unpack_count(in, LEAST_BYTES);
    made.items = md_calloc(count, sizeof *made.items);
    if (made.items == NULL && count > 0)
        in->bad = in->no_memory = true;
    while (!in->bad && made.count < count) {
        md_known_table *table = &made.items[made.count++];
        in->bad = !unpack_table(table, in, has_first) ||
                  md_known_tables_find(&made, table->name) != table;
    }
    if (in->bad)
        return false;
    *known = md_take(&made);
    return true;
}

/* ---- other data in the order of training ---- */

void md_aligned_clear(md_aligned *aligned)
{
    for (size_t t = 0; aligned->made != NULL && t < aligned->dataset.table_count; t++)
        md_matrix_clear(&aligned->made[t]);
    free(aligned->made);
    free(aligned->dataset.tables);
    *aligned = (md_aligned){0};
}

/* column[c]: where the table has column c of training. *same: everything is in its place. */
static bool find_columns(size_t *column, bool *same, const md_known_table *known,
                         const md_strings *names)
{
    *same = known->names.count == names->count;
    for (size_t c = 0; c < known->names.count; c++) {
        const char *name = known->names.items[c];
        int32_t place = (int32_t)c; /* mostly still its place */
        if (c >= names->count || strcmp(names->items[c], name) != 0)
            place = md_strings_find(names, name, strlen(name));
        if (place < 0)
            return false;
        column[c] = (size_t)place;
        *same = *same && column[c] == c;
    }
    return true;
}

/* `to` is the table as it is; made stays empty if that will do. */
static medley_status align_table(md_table *to, md_matrix *made, const md_known_table *known,
                                 const medley_dataset *dataset, medley_error *error)
{
    const md_matrix *features = &to->features;
    MD_OWNED(free) size_t *column = NULL;
    bool same;
    if (known == NULL || known->names.count == 0 || to->column_names.count != features->columns)
        return MEDLEY_OK;
    if (md_matrix_is_sparse(features)) {
        MEDLEY_TRY(md_gather_named(made, &known->names, NULL, to, error));
        to->features = *made;
        return MEDLEY_OK;
    }
    MEDLEY_TRY(md_new(&column, known->names.count, sizeof *column, error));
    if (!find_columns(column, &same, known, &to->column_names))
        return md_fail_missing((md_names){known->names.items, known->names.count},
                               (md_names){to->column_names.items, to->column_names.count},
                               to->source ? to->source : dataset->source, error);
    if (same)
        return MEDLEY_OK;
    MEDLEY_TRY(
        md_matrix_gather(made, features, NULL, features->rows, column, known->names.count, error));
    to->features = *made;
    return MEDLEY_OK;
}

medley_status md_align_tables(md_aligned *aligned, const md_known_tables *known,
                              const medley_dataset *dataset, medley_error *error)
{
    const size_t count = dataset->table_count;
    MD_CLEARED(md_aligned_clear) md_aligned made = {.dataset = *dataset};
    *aligned = (md_aligned){0};
    made.dataset.tables = NULL;
    MEDLEY_TRY(
        md_new_copy(&made.dataset.tables, dataset->tables, count * sizeof *dataset->tables, error));
    MEDLEY_TRY(md_new(&made.made, count, sizeof *made.made, error));
    for (size_t t = 0; t < count; t++) {
        md_table *table = &made.dataset.tables[t];
        MEDLEY_TRY(align_table(table, &made.made[t], md_known_tables_find(known, table->name),
                               dataset, error));
    }
    *aligned = md_take(&made);
    return MEDLEY_OK;
}
