/* SPDX-License-Identifier: BSD-3-Clause */
/* Arc templates as a collection: adding them, files and built-in sets, subsets, model files. */
#include "feature/arc_templates.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

void md_arc_templates_free(md_arc_templates *templates)
{
    if (templates == NULL)
        return;
    for (size_t t = 0; t < templates->count; t++)
        free(templates->items[t].name);
    md_strings_clear(&templates->keys);
    md_strings_clear(&templates->side_keys);
    free(templates->items);
    free(templates->sides);
    free(templates->source);
    free(templates);
}

/* An empty collection; the caller frees *templates also when it fails. */
static medley_status start(md_arc_templates **templates, const char *source, medley_error *error)
{
    const medley_status status = md_new(templates, 1, sizeof **templates, error);
    return status < 0 ? status : md_new_text(&(*templates)->source, source, strlen(source), error);
}

/* ---- one template more ---- */

static int compare_fields(const void *left, const void *right)
{
    const md_arc_field *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->word > b->word) - (a->word < b->word);
}

/* The number of a text among keys, as md_strings_add gives it; -1: no memory. */
static int32_t number_key(md_strings *keys, const md_arc_field *fields, size_t count)
{
    md_text key = {0};
    md_arc_fields_write(&key, fields, count);
    const int32_t number =
        key.failed ? -1 : md_strings_add(keys, key.data != NULL ? key.data : "", key.length);
    md_text_clear(&key);
    return number;
}

/* The side made of those of the sorted fields that are of that kind. */
static bool find_side(md_arc_templates *templates, const md_arc_field *fields, size_t count,
                      md_arc_kind kind, size_t *side)
{
    md_arc_side made = {0};
    for (size_t i = 0; i < count; i++)
        if (fields[i].kind == kind)
            made.field[made.count++] = fields[i];
    if (md_reserve((void **)&templates->sides, &templates->side_capacity, templates->side_count + 1,
                   sizeof *templates->sides) != 0)
        return false;
    const int32_t number = number_key(&templates->side_keys, made.field, made.count);
    if (number < 0)
        return false;
    if ((size_t)number == templates->side_count)
        templates->sides[templates->side_count++] = made;
    *side = (size_t)number;
    return true;
}

static bool has_kind(const md_arc_field *fields, size_t count, md_arc_kind kind)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].kind == kind)
            return true;
    return false;
}

/* The sorted fields without what changes nothing: bias, and dir beside dist, which has it. */
static size_t drop_idle(md_arc_field *fields, size_t count)
{
    const bool has_dist = has_kind(fields, count, MD_ARC_DIST);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (fields[i].kind != MD_ARC_BIAS && !(fields[i].kind == MD_ARC_DIR && has_dist))
            fields[kept++] = fields[i];
    return kept;
}

static medley_status append(md_arc_templates *templates, const md_arc_field *sorted, size_t count,
                            char *name, const md_arc_template *known, medley_error *error)
{
    md_arc_template made = *known;
    made.name = name;
    made.has_dir = has_kind(sorted, count, MD_ARC_DIR);
    made.has_dist = has_kind(sorted, count, MD_ARC_DIST);
    made.has_set = has_kind(sorted, count, MD_ARC_SET);
    made.has_crossed = has_kind(sorted, count, MD_ARC_CROSSED);
    made.has_between = has_kind(sorted, count, MD_ARC_BETWEEN);
    if (!find_side(templates, sorted, count, MD_ARC_HEAD, &made.head) ||
        !find_side(templates, sorted, count, MD_ARC_MODIFIER, &made.modifier)) {
        free(name);
        return md_fail_memory(error, sizeof(md_arc_side));
    }
    templates->items[templates->count++] = made;
    return MEDLEY_OK;
}

/* Copies fields without repeats. */
static medley_status copy_fields(const md_arc_templates *templates, const md_arc_field *fields,
                                 size_t *count, const md_arc_template *known,
                                 md_arc_field copy[MD_ARC_FIELDS_MOST], medley_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        size_t same = 0;
        while (same < kept && compare_fields(&copy[same], &fields[i]) != 0)
            same++;
        if (same < kept && known->is_plain)
            return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, known->line,
                              "the template names a field twice, in places %zu and %zu; remove one",
                              same + 1, i + 1);
        if (same == kept)
            copy[kept++] = fields[i];
    }
    *count = kept;
    if (has_kind(copy, kept, MD_ARC_BIAS) &&
        (has_kind(copy, kept, MD_ARC_HEAD) || has_kind(copy, kept, MD_ARC_MODIFIER)))
        return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, known->line,
                          "bias stands beside fields of words, where it means nothing; leave it "
                          "out");
    return MEDLEY_OK;
}

medley_status md_arc_templates_add(md_arc_templates *templates, const md_arc_field *fields,
                                   size_t count, size_t line, bool is_plain, medley_error *error)
{
    md_arc_field copy[MD_ARC_FIELDS_MOST] = {0};
    const md_arc_template known = {.line = line, .is_plain = is_plain};
    md_text name = {0};
    const size_t before = templates->count;
    MEDLEY_TRY(copy_fields(templates, fields, &count, &known, copy, error));
    md_arc_fields_write(&name, copy, count); /* in the order written */
    qsort(copy, count, sizeof *copy, compare_fields);
    count = drop_idle(copy, count);
    if (name.failed || md_reserve((void **)&templates->items, &templates->capacity, before + 1,
                                  sizeof *templates->items) != 0) {
        md_text_clear(&name);
        return md_fail_memory(error, sizeof *templates->items);
    }
    const int32_t number = number_key(&templates->keys, copy, count);
    if (number >= 0 && (size_t)number == before && before < MD_ARC_TEMPLATES_MOST)
        return append(templates, copy, count, name.data, &known, error);
    md_text_clear(&name);
    if (number < 0)
        return md_fail_memory(error, sizeof *templates->items);
    if ((size_t)number == before)
        return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, line,
                          "there are more than %d templates; use fewer", MD_ARC_TEMPLATES_MOST);
    const md_arc_template *same = &templates->items[number];
    if (!is_plain || !same->is_plain)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, line,
                      "the template has the same features as that of line %zu; remove one of them",
                      same->line);
}

/* ---- texts and files ---- */

medley_status md_arc_templates_parse(md_arc_templates **templates, const char *text,
                                     const char *source, medley_error *error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* byte order mark */
    md_arc_templates *made = NULL;
    medley_status status = MEDLEY_OK;
    MEDLEY_TRY_DONE(start(&made, source, error));
    if (strncmp(text, mark, sizeof mark - 1) == 0)
        text += sizeof mark - 1;
    for (size_t line = 1; *text != '\0'; line++) {
        const size_t length = strcspn(text, "\n");
        MEDLEY_TRY_DONE(md_arc_templates_add_line(made, text, length, line, error));
        text += length + (text[length] != '\0');
    }
    if (made->count == 0) {
        status = md_fail_at(error, MEDLEY_BAD_INPUT, source, 0,
                            "there are no templates in it; expected lines such as h.form m.form "
                            "dist");
        goto done;
    }
    *templates = made;
    made = NULL;
done:
    md_arc_templates_free(made);
    return status;
}

medley_status md_arc_templates_read(md_arc_templates **templates, const char *path,
                                    medley_error *error)
{
    md_text text = {0};
    const char *name;
    medley_status status =
        md_template_source(&text, &name, path, md_arc_sets, "file of arc templates", error);
    if (status == MEDLEY_OK && text.length > 0 && memchr(text.data, '\0', text.length) != NULL)
        status = md_fail_at(error, MEDLEY_BAD_INPUT, path, 0,
                            "the file contains a zero byte; this is not a text file");
    if (status == MEDLEY_OK)
        status = md_arc_templates_parse(templates, text.data != NULL ? text.data : "", name, error);
    md_text_clear(&text);
    return status;
}

/* ---- looking at them, taking some, storing them ---- */

size_t md_arc_templates_count(const md_arc_templates *templates)
{
    return templates->count;
}

const char *md_arc_templates_name(const md_arc_templates *templates, size_t t)
{
    return templates->items[t].name;
}

bool md_arc_templates_is_bag(const md_arc_templates *templates, size_t t)
{
    return templates->items[t].has_between;
}

medley_status md_arc_templates_subset(md_arc_templates **subset, const md_arc_templates *templates,
                                      const bool *keep, medley_error *error)
{
    MD_OWNED(md_arc_templates_free) md_arc_templates *made = NULL;
    MEDLEY_TRY(start(&made, templates->source, error));
    for (size_t t = 0; t < templates->count; t++) {
        const md_arc_template *item = &templates->items[t];
        if (keep[t])
            MEDLEY_TRY(
                md_arc_templates_add_line(made, item->name, strlen(item->name), item->line, error));
    }
    *subset = made;
    made = NULL;
    return MEDLEY_OK;
}

void md_arc_templates_pack(md_text *out, const md_arc_templates *templates)
{
    md_text lines = {0};
    for (size_t t = 0; t < templates->count; t++)
        md_text_addf(&lines, "%s\n", templates->items[t].name);
    md_pack_text(out, templates->source);
    md_pack_text(out, lines.data != NULL ? lines.data : "");
    out->failed = out->failed || lines.failed;
    md_text_clear(&lines);
}

/* Takes lines that are templates as md_arc_templates_pack writes them, nothing else. */
static void unpack_lines(md_unpack *in, md_arc_templates *templates, const char *text)
{
    for (size_t line = 1; *text != '\0' && !in->bad; line++) {
        medley_error ignored = {0};
        const size_t length = strcspn(text, "\n"), before = templates->count;
        const medley_status status =
            md_arc_templates_add_line(templates, text, length, line, &ignored);
        in->no_memory = status == MEDLEY_FAILED;
        in->bad = status < 0 || text[length] != '\n' || templates->count != before + 1 ||
                  strlen(templates->items[before].name) != length ||
                  strncmp(templates->items[before].name, text, length) != 0;
        text += length + (text[length] != '\0');
    }
}

medley_status md_arc_templates_unpack(md_arc_templates **templates, md_unpack *in,
                                      medley_error *error)
{
    md_arc_templates *made = NULL;
    char *source = md_unpack_text(in);
    char *lines = md_unpack_text(in);
    medley_status status = MEDLEY_OK;
    if (source != NULL && lines != NULL) {
        MEDLEY_TRY_DONE(start(&made, source, error));
        unpack_lines(in, made, lines);
    }
    if (in->bad && in->no_memory)
        status = md_fail_memory(error, in->length);
    else if (in->bad)
        status = md_fail(error, MEDLEY_BAD_INPUT,
                         "the arc templates are damaged; train again or restore a copy");
    if (status == MEDLEY_OK) {
        *templates = made;
        made = NULL;
    }
done:
    md_arc_templates_free(made);
    free(source);
    free(lines);
    return status;
}
