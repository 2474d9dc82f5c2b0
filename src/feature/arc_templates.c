/* SPDX-License-Identifier: BSD-3-Clause */
/* Arc templates as a collection: adding them, files and built-in sets, subsets, model files. */
#include "feature/arc_templates.h"

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
    MEDLEY_TRY(md_new(templates, 1, sizeof **templates, error));
    return md_new_text(&(*templates)->source, source, strlen(source), error);
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

/* The number of the fields among keys, where they are put as text. */
static medley_status number_key(md_strings *keys, const md_arc_field *fields, size_t count,
                                size_t *number, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text key = {0};
    int32_t id = 0;
    md_arc_fields_write(&key, fields, count);
    MEDLEY_TRY(md_text_check(&key, error));
    MEDLEY_TRY(md_strings_put(keys, md_text_string(&key), key.length, &id, error));
    *number = (size_t)id;
    return MEDLEY_OK;
}

/* The side made of those of the sorted fields that are of that kind. */
static medley_status find_side(md_arc_templates *templates, const md_arc_field *fields,
                               size_t count, md_arc_kind kind, size_t *side, medley_error *error)
{
    md_arc_side made = {0};
    for (size_t i = 0; i < count; i++)
        if (fields[i].kind == kind)
            made.field[made.count++] = fields[i];
    MEDLEY_TRY(md_grow(&templates->sides, &templates->side_capacity, templates->side_count + 1,
                       sizeof *templates->sides, error));
    MEDLEY_TRY(number_key(&templates->side_keys, made.field, made.count, side, error));
    if (*side == templates->side_count)
        templates->sides[templates->side_count++] = made;
    return MEDLEY_OK;
}

static bool has_kind(const md_arc_field *fields, size_t count, md_arc_kind kind)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].kind == kind)
            return true;
    return false;
}

/* The sorted fields without what changes nothing: bias, and dir beside dist or in second order,
 * which have it. */
static size_t drop_idle(md_arc_field *fields, size_t count, bool second)
{
    const bool has_dist = has_kind(fields, count, MD_ARC_DIST) || second;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (fields[i].kind != MD_ARC_BIAS && !(fields[i].kind == MD_ARC_DIR && has_dist))
            fields[kept++] = fields[i];
    return kept;
}

/* Takes the name over. */
static medley_status append(md_arc_templates *templates, const md_arc_field *sorted, size_t count,
                            md_text *name, const md_arc_template *known, medley_error *error)
{
    md_arc_template made = *known;
    MEDLEY_TRY(find_side(templates, sorted, count, MD_ARC_HEAD, &made.head, error));
    MEDLEY_TRY(find_side(templates, sorted, count, MD_ARC_MODIFIER, &made.modifier, error));
    const md_arc_kind third = made.parts == MD_ARC_GRANDS ? MD_ARC_GRAND : MD_ARC_SIBLING;
    MEDLEY_TRY(find_side(templates, sorted, count, third, &made.third, error));
    made.name = md_take(&name->data);
    for (size_t i = 0; i < count; i++)
        made.has[sorted[i].kind] = true;
    templates->items[templates->count++] = made;
    return MEDLEY_OK;
}

/* What the fields are about; in second order direction is always known, and what stands between is
 * not asked word by word. */
static medley_status find_parts(const md_arc_templates *templates, const md_arc_field *fields,
                                size_t count, md_arc_template *known, medley_error *error)
{
    const bool siblings =
        has_kind(fields, count, MD_ARC_SIBLING) || has_kind(fields, count, MD_ARC_SIBLING_DIST);
    const bool grands =
        has_kind(fields, count, MD_ARC_GRAND) || has_kind(fields, count, MD_ARC_GRAND_DIST);
    if (siblings && grands)
        return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, known->line,
                          "the template is about a sibling and a grandparent at once; make two of "
                          "it, one with s. and one with g.");
    const md_arc_bag bags[MD_ARC_KINDS] = {[MD_ARC_BETWEEN] = MD_ARC_TAG_BAG,
                                           [MD_ARC_HEAD_EACH] = MD_ARC_HEAD_BAG,
                                           [MD_ARC_MODIFIER_EACH] = MD_ARC_MODIFIER_BAG,
                                           [MD_ARC_BOTH_EACH] = MD_ARC_BOTH_BAG};
    for (size_t i = 0; i < count; i++) {
        const md_arc_bag bag = bags[fields[i].kind];
        if (bag != MD_ARC_NO_BAG && (siblings || grands))
            return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, known->line,
                              "between.upos and feats[] are for templates of arcs alone; use "
                              "set.upos, crossed or feats beside siblings and grandparents");
        if (bag != MD_ARC_NO_BAG && known->bag != MD_ARC_NO_BAG)
            return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, known->line,
                              "the template has two fields with several features each; make two "
                              "of it");
        known->bag = bag != MD_ARC_NO_BAG ? bag : known->bag;
    }
    known->parts = siblings ? MD_ARC_SIBLINGS : grands ? MD_ARC_GRANDS : MD_ARC_ARCS;
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
    md_arc_template known = {.line = line, .is_plain = is_plain};
    MD_CLEARED(md_text_clear) md_text name = {0};
    const size_t before = templates->count;
    size_t number;
    MEDLEY_TRY(copy_fields(templates, fields, &count, &known, copy, error));
    MEDLEY_TRY(find_parts(templates, copy, count, &known, error));
    md_arc_fields_write(&name, copy, count); /* in the order written */
    qsort(copy, count, sizeof *copy, compare_fields);
    count = drop_idle(copy, count, known.parts != MD_ARC_ARCS);
    MEDLEY_TRY(md_text_check(&name, error));
    MEDLEY_TRY(md_grow(&templates->items, &templates->capacity, before + 1,
                       sizeof *templates->items, error));
    MEDLEY_TRY(number_key(&templates->keys, copy, count, &number, error));
    if (number == before && before < MD_ARC_TEMPLATES_MOST)
        return append(templates, copy, count, &name, &known, error);
    if (number == before)
        return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, line,
                          "there are more than %d templates; use fewer", MD_ARC_TEMPLATES_MOST);
    const md_arc_template *same = &templates->items[number];
    if (!is_plain || !same->is_plain)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, line,
                      "the template has the same features as that of line %zu; remove one of them",
                      same->line);
}

/* ---- strings and files ---- */

medley_status md_arc_templates_parse(md_arc_templates **templates, const char *text,
                                     const char *source, medley_error *error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* byte order mark */
    MD_OWNED(md_arc_templates_free) md_arc_templates *made = NULL;
    MEDLEY_TRY(start(&made, source, error));
    if (strncmp(text, mark, sizeof mark - 1) == 0)
        text += sizeof mark - 1;
    for (size_t line = 1; *text != '\0'; line++) {
        const size_t length = strcspn(text, "\n");
        MEDLEY_TRY(md_arc_templates_add_line(made, text, length, line, error));
        text += length + (text[length] != '\0');
    }
    if (made->count == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, source, 0,
                          "there are no templates in it; expected lines such as h.form m.form "
                          "dist");
    *templates = md_take(&made);
    return MEDLEY_OK;
}

/* The text that a built-in set has besides its own. */
static void add_second(md_text *text, const char *name)
{
    for (size_t i = 0; md_arc_sets[i].name != NULL; i++)
        if (strcmp(md_arc_sets[i].name, name) == 0 && md_arc_second[i] != NULL &&
            strcmp(md_text_string(text), md_arc_sets[i].text) == 0)
            md_text_addf(text, "%s", md_arc_second[i]);
}

medley_status md_arc_templates_read(md_arc_templates **templates, const char *path, bool second,
                                    medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    const char *name;
    MEDLEY_TRY(md_template_source(&text, &name, path, md_arc_sets, "file of arc templates", error));
    if (memchr(md_text_string(&text), '\0', text.length) != NULL)
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, 0,
                          "the file contains a zero byte; this is not a text file");
    if (second)
        add_second(&text, name);
    MEDLEY_TRY(md_text_check(&text, error));
    return md_arc_templates_parse(templates, md_text_string(&text), name, error);
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

md_arc_parts md_arc_templates_parts(const md_arc_templates *templates, size_t t)
{
    return templates->items[t].parts;
}

bool md_arc_templates_is_bag(const md_arc_templates *templates, size_t t)
{
    return templates->items[t].bag != MD_ARC_NO_BAG;
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
    *subset = md_take(&made);
    return MEDLEY_OK;
}

void md_arc_templates_pack(md_text *out, const md_arc_templates *templates)
{
    MD_CLEARED(md_text_clear) md_text lines = {0};
    for (size_t t = 0; t < templates->count; t++)
        md_text_addf(&lines, "%s\n", templates->items[t].name);
    md_pack_text(out, templates->source);
    md_pack_text(out, md_text_string(&lines));
    out->failed = out->failed || lines.failed;
}

/* Takes lines that are templates as md_arc_templates_pack writes them, nothing else. */
static void unpack_lines(md_unpack *in, md_arc_templates *templates, const char *text)
{
    for (size_t line = 1; *text != '\0' && !in->bad; line++) {
        const size_t length = strcspn(text, "\n"), before = templates->count;
        const medley_status status = md_arc_templates_add_line(templates, text, length, line, NULL);
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
    MD_OWNED(md_arc_templates_free) md_arc_templates *made = NULL;
    MD_OWNED(free) char *source = md_unpack_text(in);
    MD_OWNED(free) char *lines = md_unpack_text(in);
    if (source != NULL && lines != NULL) {
        MEDLEY_TRY(start(&made, source, error));
        unpack_lines(in, made, lines);
    }
    if (in->bad)
        return md_template_damaged(in, "arc templates", error);
    *templates = md_take(&made);
    return MEDLEY_OK;
}
