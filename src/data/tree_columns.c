/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings are touched once for each distinct one: a column is a field of some relative of the word,
 * and its values are that field's numbers, looked up at the relative's row. Two rows after the
 * last stand for the root and for a word that is not there, so that nothing has to be asked. */
#include "data/tree_columns.h"

enum { CONLLU_COLUMNS = 10, FORM_COLUMN = 1, LEMMA_COLUMN = 2, XPOS_COLUMN = 4, FEATS_COLUMN = 5 };
enum { DEPREL_COLUMN = 7 };

#define ROOT "<root>"
#define NONE "<none>"

typedef enum field {
    FORM,
    LEMMA,
    TAG,
    XPOS,
    FEATS,
    DISTANCE,
    PLACE,
    CHILD_TAGS,
    BETWEEN,
    FENCES_BETWEEN,
    FIELDS,
    SETS = FIELDS - CHILD_TAGS
} field;
typedef enum relative {
    SELF,
    BEFORE,
    BEHIND,
    END,
    HEAD,
    BEFORE_HEAD,
    BEHIND_HEAD,
    GRAND,
    LEFT,
    RIGHT,
    FIRST,
    LAST,
    MARKER,
    LAST_MARKER,
    HEAD_MARKER,
    HEAD_LAST_MARKER,
    RELATIVES
} relative;

static const struct {
    relative whose;
    field what;
} COLUMNS[MD_TREE_COLUMNS] = {
#define MD_TREE_COLUMN(name, whose, what) {whose, what},
#include "data/tree_columns.def"
#undef MD_TREE_COLUMN
};

/* ---- tags ---- */

/* The universal ones have a bit of their own in sets of tags. Others share the bits after them by
 * a hash of their text, so that a set does not depend on what else is in the data. */
static const char *const UNIVERSAL[] = {"ADJ",   "ADP",   "ADV", "AUX",  "CCONJ", "DET",
                                        "INTJ",  "NOUN",  "NUM", "PART", "PRON",  "PROPN",
                                        "PUNCT", "SCONJ", "SYM", "VERB", "X",     NULL};
static const char *const MARKERS[] = {"ADP", "AUX", "PART", "SCONJ", NULL};
static const char *const FENCES[] = {"AUX", "CCONJ", "PUNCT", "VERB", NULL};

enum { UNIVERSAL_COUNT = sizeof UNIVERSAL / sizeof *UNIVERSAL - 1, BITS = 64 };

typedef struct tag_kind {
    uint64_t bit;
    bool is_marker;
} tag_kind;

static tag_kind kind_of_tag(const char *text)
{
    const int index = md_text_index(text, UNIVERSAL);
    uint32_t hash =
        2166136261u; /* FNV-1a: the same everywhere, as models keep the strings of sets */
    for (const char *c = text; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    const uint32_t other = UNIVERSAL_COUNT + (hash ^ hash >> 16) % (BITS - UNIVERSAL_COUNT);
    return (tag_kind){(uint64_t)1 << (index >= 0 ? (uint32_t)index : other),
                      md_text_index(text, MARKERS) >= 0};
}

/* Sets of tags as strings. Few are frequent: those seen last are found by a hash of the set,
 * without making their string. */
enum { KNOWN_BITS = 10, KNOWN_SETS = 1 << KNOWN_BITS };
typedef struct known_set {
    uint64_t set;
    int32_t id; /* + 1; 0: free */
} known_set;

static int32_t add_set(md_strings *texts, uint64_t set)
{
    char text[BITS * 8] = "";
    size_t length = 0;
    if (set == 0)
        return md_strings_add(texts, NONE, strlen(NONE));
    for (size_t b = 0; b < BITS; b++) {
        if ((set >> b & 1) == 0)
            continue;
        if (length > 0)
            text[length++] = '+';
        if (b < UNIVERSAL_COUNT)
            for (const char *c = UNIVERSAL[b]; *c != '\0'; c++)
                text[length++] = *c;
        else {
            text[length++] = '#';
            text[length++] = (char)('0' + b / 10);
            text[length++] = (char)('0' + b % 10);
        }
    }
    return md_strings_add(texts, text, length);
}

static int32_t find_set(known_set *known, md_strings *texts, uint64_t set)
{
    known_set *place = &known[(set * 0x9e3779b97f4a7c15u) >> (BITS - KNOWN_BITS)];
    if (place->id == 0 || place->set != set)
        *place = (known_set){set, add_set(texts, set) + 1};
    return place->id - 1;
}

/* ---- what is made of the data before rows are filled ---- */

typedef struct tree {
    const medley_dataset *dataset;
    const int32_t *head;
    size_t tags;
    size_t root, none;        /* rows that stand for them */
    md_strings texts[FIELDS]; /* distinct texts of each field */
    int32_t *id[FIELDS];      /* [rows + 2] their numbers */
    size_t *to[RELATIVES];    /* [rows + 2] rows of relatives */
    uint64_t *set;            /* [rows + 2] tags of children */
    tag_kind *kind;           /* of each tag */
    known_set *known[SETS];   /* [KNOWN_SETS] of each field of sets */
} tree;

static void clear_tree(tree *t)
{
    for (size_t f = 0; f < FIELDS; f++) {
        md_strings_clear(&t->texts[f]);
        free(t->id[f]);
    }
    for (size_t r = 0; r < RELATIVES; r++)
        free(t->to[r]);
    for (size_t f = 0; f < SETS; f++)
        free(t->known[f]);
    free(t->set);
    free(t->kind);
}

static medley_status allocate(tree *t, medley_error *error)
{
    const size_t places = t->dataset->rows + 2;
    const size_t tags = t->dataset->token_values[t->tags].count;
    MEDLEY_TRY(md_new(&t->set, places, sizeof *t->set, error));
    MEDLEY_TRY(md_new(&t->kind, tags, sizeof *t->kind, error));
    for (size_t f = 0; f < SETS; f++)
        MEDLEY_TRY(md_new(&t->known[f], KNOWN_SETS, sizeof *t->known[f], error));
    for (size_t f = 0; f < FIELDS; f++)
        MEDLEY_TRY(md_new(&t->id[f], places, sizeof *t->id[f], error));
    for (size_t r = 0; r < RELATIVES; r++)
        MEDLEY_TRY(md_new(&t->to[r], places, sizeof *t->to[r], error));
    for (size_t i = 0; i < tags; i++)
        t->kind[i] = kind_of_tag(t->dataset->token_values[t->tags].items[i]);
    return MEDLEY_OK;
}

static medley_status add_text(int32_t *id, md_strings *texts, const char *text, medley_error *error)
{
    return md_strings_put(texts, text, strlen(text), id, error);
}

static medley_status take_field(tree *t, field f, size_t column, medley_error *error)
{
    const medley_dataset *dataset = t->dataset;
    MEDLEY_TRY(md_strings_copy(&t->texts[f], &dataset->token_values[column], error));
    for (size_t row = 0; row < dataset->rows; row++)
        t->id[f][row] = dataset->token[row * CONLLU_COLUMNS + column];
    MEDLEY_TRY(add_text(&t->id[f][t->root], &t->texts[f], ROOT, error));
    return add_text(&t->id[f][t->none], &t->texts[f], NONE, error);
}

/* Lemmas, and forms where they are not given. */
static medley_status take_lemmas(tree *t, medley_error *error)
{
    const medley_dataset *dataset = t->dataset;
    const md_strings *forms = &dataset->token_values[FORM_COLUMN];
    MD_OWNED(free) int32_t *lemma_of_form = NULL; /* + 1 */
    MEDLEY_TRY(take_field(t, LEMMA, LEMMA_COLUMN, error));
    const int32_t unknown = md_strings_find(&dataset->token_values[LEMMA_COLUMN], "_", 1);
    if (unknown < 0)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&lemma_of_form, forms->count, sizeof *lemma_of_form, error));
    for (size_t row = 0; row < dataset->rows; row++) {
        if (t->id[LEMMA][row] != unknown)
            continue;
        const int32_t form = dataset->token[row * CONLLU_COLUMNS + FORM_COLUMN];
        int32_t id = lemma_of_form[form] - 1;
        if (id < 0)
            MEDLEY_TRY(add_text(&id, &t->texts[LEMMA], forms->items[form], error));
        lemma_of_form[form] = id + 1;
        t->id[LEMMA][row] = id;
    }
    return MEDLEY_OK;
}

/* ---- relatives ---- */

static medley_status check_head(const tree *t, size_t sentence, size_t row, medley_error *error)
{
    const medley_dataset *dataset = t->dataset;
    const size_t start = dataset->sequence_start[sentence];
    const size_t length = dataset->sequence_start[sentence + 1] - start;
    const int32_t head = t->head[row];
    if (head >= 0 && (size_t)head <= length && (size_t)head != row - start + 1)
        return MEDLEY_OK;
    return md_fail_at(
        error, MEDLEY_BAD_INPUT, dataset->source, dataset->line != NULL ? dataset->line[row] : 0,
        "the head of word %zu in sentence %zu is %d, expected 0 or another of its %zu "
        "words",
        row - start + 1, sentence + 1, (int)head, length);
}

/* Children come from left to right, so the last one so far is the left sibling of the next. */
static void relate(tree *t, size_t start, size_t end)
{
    size_t **to = t->to;
    for (size_t r = FIRST; r <= LAST_MARKER; r++)
        to[r][t->root] = t->none;
    for (size_t row = start; row < end; row++) {
        for (size_t r = RIGHT; r <= LAST_MARKER; r++)
            to[r][row] = t->none;
        to[SELF][row] = row;
        to[BEFORE][row] = row > start ? row - 1 : t->none;
        to[BEHIND][row] = row + 1 < end ? row + 1 : t->none;
        to[END][row] = end - 1;
        to[HEAD][row] = t->head[row] == 0 ? t->root : start + (size_t)t->head[row] - 1;
    }
    for (size_t row = start; row < end; row++) {
        const size_t head = to[HEAD][row];
        const size_t left = to[LAST][head];
        const tag_kind kind = t->kind[t->id[TAG][row]];
        to[LEFT][row] = left;
        to[left == t->none ? FIRST : RIGHT][left == t->none ? head : left] = row;
        to[LAST][head] = row;
        if (kind.is_marker) {
            if (to[MARKER][head] == t->none)
                to[MARKER][head] = row;
            to[LAST_MARKER][head] = row;
        }
        t->set[head] |= kind.bit;
    }
    to[MARKER][t->root] = to[LAST_MARKER][t->root] = t->none;
    for (size_t row = start; row < end; row++) {
        const size_t head = to[HEAD][row];
        to[GRAND][row] = to[HEAD][head];
        to[HEAD_MARKER][row] = to[MARKER][head];
        to[HEAD_LAST_MARKER][row] = to[LAST_MARKER][head];
        to[BEFORE_HEAD][row] = head > start && head < end ? head - 1 : t->none;
        to[BEHIND_HEAD][row] = head + 1 < end ? head + 1 : t->none;
    }
}

static medley_status relate_all(tree *t, medley_error *error)
{
    const medley_dataset *dataset = t->dataset;
    t->to[HEAD][t->root] = t->none;
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t end = dataset->sequence_start[s + 1];
        for (size_t row = dataset->sequence_start[s]; row < end; row++)
            MEDLEY_TRY(check_head(t, s, row, error));
        relate(t, dataset->sequence_start[s], end);
    }
    return MEDLEY_OK;
}

/* ---- fields that are made ---- */

enum { NEAR = 4 }; /* distances up to here are told apart; then 5-6, 7-10 and more */
static const char *const DISTANCES[] = {ROOT, "L1", "L2", "L3", "L4", "L5", "L7", "L11",
                                        "R1", "R2", "R3", "R4", "R5", "R7", "R11"};
enum { DISTANCE_COUNT = sizeof DISTANCES / sizeof *DISTANCES, CLASSES = (DISTANCE_COUNT - 1) / 2 };

static size_t class_of_distance(const tree *t, size_t row)
{
    const size_t head = t->to[HEAD][row];
    if (head == t->root)
        return 0;
    const size_t apart = head > row ? head - row : row - head;
    size_t class = apart;
    if (apart > NEAR)
        class = apart <= 6 ? NEAR + 1 : apart <= 10 ? NEAR + 2 : NEAR + 3;
    return class + (head > row ? 0 : CLASSES);
}

/* Bits of a place, and its text from them. */
enum { FIRST_OF_ALL = 1, LAST_OF_ALL = 2, FIRST_ON_SIDE = 4, LAST_ON_SIDE = 8, PLACES = 16 };

static size_t class_of_place(const tree *t, size_t row)
{
    const size_t head = t->to[HEAD][row];
    const size_t left = t->to[LEFT][row];
    const size_t right = t->to[RIGHT][row];
    const bool is_before = head != t->root && row < head;
    size_t class = 0;
    if (left == t->none)
        class |= FIRST_OF_ALL | FIRST_ON_SIDE;
    else if (head != t->root && (left < head) != is_before)
        class |= FIRST_ON_SIDE;
    if (right == t->none)
        class |= LAST_OF_ALL | LAST_ON_SIDE;
    else if (head != t->root && (right < head) != is_before)
        class |= LAST_ON_SIDE;
    return class;
}

static medley_status add_places(md_strings *texts, medley_error *error)
{
    for (size_t class = 0; class < PLACES; class ++) {
        char text[5] = "-";
        size_t length = 0;
        for (size_t b = 0; b < 4; b++)
            if ((class >> b & 1) != 0)
                text[length++] = "FLfl"[b];
        MEDLEY_TRY(add_text(NULL, texts, text, error));
    }
    return MEDLEY_OK;
}

static uint64_t tags_between(const tree *t, size_t row)
{
    const size_t head = t->to[HEAD][row];
    const size_t last = head > row ? head : row;
    uint64_t set = 0;
    for (size_t r = (head > row ? row : head) + 1; r < last; r++)
        set |= t->kind[t->id[TAG][r]].bit;
    return set;
}

/* id[f] of the row, which is a set of tags. */
static medley_status take_set(tree *t, field f, size_t row, uint64_t set, medley_error *error)
{
    t->id[f][row] = find_set(t->known[f - CHILD_TAGS], &t->texts[f], set);
    return t->id[f][row] < 0 ? md_fail_memory(error, sizeof set) : MEDLEY_OK;
}

static medley_status make_sets(tree *t, medley_error *error)
{
    uint64_t fences = 0;
    int32_t root = 0; /* the same number in both fields */
    for (const char *const *tag = FENCES; *tag != NULL; tag++)
        fences |= kind_of_tag(*tag).bit;
    MEDLEY_TRY(add_text(&root, &t->texts[BETWEEN], ROOT, error));
    MEDLEY_TRY(add_text(&root, &t->texts[FENCES_BETWEEN], ROOT, error));
    for (size_t row = 0; row < t->dataset->rows; row++) {
        MEDLEY_TRY(take_set(t, CHILD_TAGS, row, t->set[row], error));
        t->id[BETWEEN][row] = t->id[FENCES_BETWEEN][row] = root;
        if (t->to[HEAD][row] == t->root)
            continue;
        const uint64_t between = tags_between(t, row);
        MEDLEY_TRY(take_set(t, BETWEEN, row, between, error));
        MEDLEY_TRY(take_set(t, FENCES_BETWEEN, row, between & fences, error));
    }
    return MEDLEY_OK;
}

static medley_status make_fields(tree *t, medley_error *error)
{
    for (size_t i = 0; i < DISTANCE_COUNT; i++)
        MEDLEY_TRY(add_text(NULL, &t->texts[DISTANCE], DISTANCES[i], error));
    MEDLEY_TRY(add_places(&t->texts[PLACE], error));
    for (size_t row = 0; row < t->dataset->rows; row++) {
        t->id[DISTANCE][row] = (int32_t)class_of_distance(t, row);
        t->id[PLACE][row] = (int32_t)class_of_place(t, row);
    }
    return make_sets(t, error);
}

/* ---- the data set ---- */

static medley_status start_dataset(medley_dataset *derived, const medley_dataset *dataset,
                                   medley_error *error)
{
    const size_t starts = (dataset->sequence_count + 1) * sizeof *derived->sequence_start;
    MEDLEY_TRY(md_new(&derived->token_values, MD_TREE_COLUMNS, sizeof(md_strings), error));
    derived->token_columns = MD_TREE_COLUMNS;
    MEDLEY_TRY(md_new_aligned(&derived->token, dataset->rows,
                              MD_TREE_COLUMNS * sizeof *derived->token, error));
    MEDLEY_TRY(md_new_copy(&derived->sequence_start, dataset->sequence_start, starts, error));
    if (dataset->source != NULL)
        MEDLEY_TRY(md_new_text(&derived->source, dataset->source, strlen(dataset->source), error));
    derived->rows = dataset->rows;
    derived->sequence_count = dataset->sequence_count;
    derived->label_column = MD_TREE_COLUMNS;
    derived->more_tokens = true; /* models of before know less of them */
    return MEDLEY_OK;
}

static medley_status fill_columns(medley_dataset *derived, const tree *t, medley_error *error)
{
    for (size_t c = 0; c < MD_TREE_COLUMNS; c++)
        MEDLEY_TRY(md_strings_copy(&derived->token_values[c], &t->texts[COLUMNS[c].what], error));
    for (size_t row = 0; row < derived->rows; row++)
        for (size_t c = 0; c < MD_TREE_COLUMNS; c++)
            derived->token[row * MD_TREE_COLUMNS + c] =
                t->id[COLUMNS[c].what][t->to[COLUMNS[c].whose][row]];
    return MEDLEY_OK;
}

static medley_status take_labels(medley_dataset *derived, const medley_dataset *dataset,
                                 medley_error *error)
{
    MD_CLEARED(md_labels_clear) md_label_builder builder = {0};
    for (size_t row = 0; row < dataset->rows; row++) {
        const int32_t id = dataset->token[row * CONLLU_COLUMNS + DEPREL_COLUMN];
        const char *text = dataset->token_values[DEPREL_COLUMN].items[id];
        MEDLEY_TRY(
            md_labels_add(&builder, strcmp(text, "_") == 0 ? NULL : text, strlen(text), error));
    }
    return md_labels_finish(&builder, derived, error);
}

static medley_status check_data(const medley_dataset *dataset, const int32_t *head, size_t tags,
                                medley_error *error)
{
    if (dataset->token_columns != CONLLU_COLUMNS || dataset->sequence_count == 0)
        return md_fail_at(error, MEDLEY_USAGE, dataset->source, 0,
                          "relations need sentences with the ten columns of CoNLL-U, and the data "
                          "have %zu columns of text",
                          dataset->token_columns);
    if (head == NULL)
        return md_fail_at(error, MEDLEY_USAGE, dataset->source, 0,
                          "relations need the heads of the words, and there are none");
    if (tags >= CONLLU_COLUMNS)
        return md_fail(error, MEDLEY_USAGE, "there is no column %zu to take tags from", tags + 1);
    return MEDLEY_OK;
}

medley_status md_tree_columns(medley_dataset **derived, const medley_dataset *dataset,
                              const int32_t *head, size_t tags, medley_error *error)
{
    MD_OWNED(medley_dataset_free) medley_dataset *made = NULL;
    MD_CLEARED(clear_tree)
    tree t = {.dataset = dataset,
              .head = head,
              .tags = tags,
              .root = dataset->rows,
              .none = dataset->rows + 1};
    MEDLEY_TRY(check_data(dataset, head, tags, error));
    MEDLEY_TRY(allocate(&t, error));
    MEDLEY_TRY(take_field(&t, FORM, FORM_COLUMN, error));
    MEDLEY_TRY(take_lemmas(&t, error));
    MEDLEY_TRY(take_field(&t, TAG, tags, error));
    MEDLEY_TRY(take_field(&t, XPOS, XPOS_COLUMN, error));
    MEDLEY_TRY(take_field(&t, FEATS, FEATS_COLUMN, error));
    MEDLEY_TRY(relate_all(&t, error));
    MEDLEY_TRY(make_fields(&t, error));
    MEDLEY_TRY(medley_dataset_create(&made, error));
    MEDLEY_TRY(start_dataset(made, dataset, error));
    MEDLEY_TRY(fill_columns(made, &t, error));
    MEDLEY_TRY(take_labels(made, dataset, error));
    *derived = md_take(&made);
    return MEDLEY_OK;
}
