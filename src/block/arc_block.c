/* SPDX-License-Identifier: BSD-3-Clause */
/* The block of one arc template: theta = scale * W, one weight for each of 2^bits slots, which the
 * features of arcs are hashed to. Slots are features like others: what happens to their weights
 * besides scores and steps is explicit_state.c.
 *
 * A sentence of n words is n^2 look-ups to score, and a step as many changes as its gradient has
 * arcs. */
#include "block/arc_weights.h"
#include "block/explicit_internal.h"

typedef struct arc_block {
    explicit_block x; /* comes first */
    md_arc_explicit what;
} arc_block;

static md_arc_key key_of(const arc_block *a, size_t row)
{
    return md_arcs_key(*a->what.arcs, a->what.sentence[row], a->what.t);
}

/* ---- scores ---- */

/* Where the scores of the block's parts of second order begin, and which parts they are. */
struct triples {
    const md_triple *part;
    size_t first, count;
};

static struct triples triples_of(const arc_block *a, size_t row, size_t length)
{
    const md_sentence sentence = md_heads_sentence(a->what.heads, row, length);
    const size_t arcs = length * (length + 1);
    if (a->what.parts == MD_ARC_SIBLINGS)
        return (struct triples){sentence.sibling, arcs, sentence.siblings};
    return (struct triples){sentence.grand, arcs + sentence.siblings, sentence.grands};
}

/* Thresholds that were put off are made up for as weights are looked up. */
static void add_thresholded_triples(const arc_block *a, const md_arc_key *key, size_t row,
                                    float factor, float *scores)
{
    const struct triples triples = triples_of(a, row, key->length);
    for (size_t i = 0; i < triples.count; i++)
        scores[triples.first + i] +=
            factor *
            md_explicit_thresholded(&a->x, md_arc_triple_slot(key, triples.part[i], a->what.parts,
                                                              32 - (uint32_t)a->what.bits));
}

static void add_thresholded_arcs(const arc_block *a, const md_arc_key *key, md_arc_words words,
                                 float factor, float *scores)
{
    const size_t heads = key->length + 1;
    scores += (words.first - 1) * heads;
    for (size_t m = words.first; m < words.end; m++)
        for (size_t h = 0; h < heads; h++, scores++) {
            uint32_t slots[MD_ARC_MOST];
            const size_t count = md_arc_slots(slots, key, m, h, a->what.bits);
            for (size_t i = 0; i < count; i++)
                *scores += factor * md_explicit_thresholded(&a->x, slots[i]);
        }
}

static void score_triples(const arc_block *a, md_example example, float factor, float *scores)
{
    const md_arc_key key = key_of(a, example.row);
    const struct triples triples = triples_of(a, example.row, example.length);
    const md_arc_table table = {.weight = a->x.weight, .bits = a->what.bits, .factor = factor};
    if (a->x.applied != NULL)
        add_thresholded_triples(a, &key, example.row, factor, scores);
    else
        md_arc_add_triples(scores + triples.first, &key, triples.part, triples.count, a->what.parts,
                           &table);
}

static void score_arcs(const arc_block *a, md_example example, md_arc_words words, float factor,
                       float *scores)
{
    const md_arc_key key = key_of(a, example.row);
    const md_arc_table table = {.weight = a->x.weight, .bits = a->what.bits, .factor = factor};
    if (a->x.applied != NULL) {
        add_thresholded_arcs(a, &key, words, factor, scores);
    } else if (a->what.heads != NULL) {
        const md_sentence sentence = md_heads_sentence(a->what.heads, example.row, example.length);
        md_arc_add_heads(scores, &key, words, &sentence, &table);
    } else {
        md_arc_add_weights(scores, &key, words, a->x.weight, a->what.bits, factor);
    }
}

/* Parts of second order, which belong to no row, are scored with the first one. */
static void score_rows(const md_block *block, md_example example, size_t first, size_t rows,
                       float *scores)
{
    const arc_block *a = (const arc_block *)block;
    const float factor = (float)(md_block_factor(block) * a->what.gain);
    if (factor == 0)
        return;
    if (a->what.parts == MD_ARC_ARCS)
        score_arcs(a, example, (md_arc_words){first + 1, first + rows + 1}, factor, scores);
    else if (first == 0)
        score_triples(a, example, factor, scores);
}

static void score(const md_block *block, md_example example, float *scores)
{
    score_rows(block, example, 0, example.length, scores);
}

/* ---- gradients ---- */

/* Slots that a gradient changes, as often as an arc has them, some at a time. */
enum { CHUNK = 256 };

struct changes {
    uint32_t slot[CHUNK];
    float coefficient[CHUNK];
    size_t count;
};

/* Slots of one part of the gradient; use is called where there may be no room for another's. */
struct changing {
    const arc_block *a;
    md_arc_key key;
    struct changes changes;
    void (*use)(void *context, const struct changes *changes);
    void *context;
};

/* Memory is asked for slots first: it is not waited for one by one. */
static void add_change(struct changing *changing, size_t count, float coefficient)
{
    const arc_block *a = changing->a;
    struct changes *changes = &changing->changes;
    for (size_t s = 0; s < count; s++) {
        const uint32_t slot = changes->slot[changes->count];
        __builtin_prefetch(a->x.weight + slot, 1);
        if (a->x.what.averaging)
            __builtin_prefetch(a->x.weight + a->x.correction + slot, 1);
        changes->coefficient[changes->count++] = coefficient;
    }
    if (changes->count > CHUNK - MD_ARC_MOST) {
        changing->use(changing->context, changes);
        changes->count = 0;
    }
}

static void change_arcs(struct changing *changing, const md_delta *delta)
{
    const size_t heads = changing->key.length + 1;
    for (size_t r = 0; r < delta->row_count; r++) {
        const size_t m = (size_t)delta->row[r] + 1;
        for (size_t i = delta->start[r]; i < delta->start[r + 1]; i++) {
            uint32_t *slot = changing->changes.slot + changing->changes.count;
            const size_t h = delta->part[i] - (m - 1) * heads;
            const size_t count = md_arc_slots(slot, &changing->key, m, h, changing->a->what.bits);
            add_change(changing, count, delta->coefficient[i]);
        }
    }
}

/* Parts of second order come after those of rows, both kinds of them. */
static void change_triples(struct changing *changing, const md_gradient *gradient)
{
    const arc_block *a = changing->a;
    const md_delta *delta = gradient->delta;
    const struct triples triples = triples_of(a, gradient->example.row, gradient->example.length);
    for (size_t i = delta->start[delta->row_count]; i < delta->count; i++) {
        const size_t place = delta->part[i] - triples.first; /* wraps around below the first */
        if (place >= triples.count)
            continue;
        changing->changes.slot[changing->changes.count] = md_arc_triple_slot(
            &changing->key, triples.part[place], a->what.parts, 32 - (uint32_t)a->what.bits);
        add_change(changing, 1, delta->coefficient[i]);
    }
}

/* Calls use with all slots that a gradient changes. */
static void for_all_changes(const arc_block *a, const md_gradient *gradient,
                            void (*use)(void *context, const struct changes *changes),
                            void *context)
{
    struct changing changing = {
        .a = a, .key = key_of(a, gradient->example.row), .use = use, .context = context};
    if (a->what.parts == MD_ARC_ARCS)
        change_arcs(&changing, gradient->delta);
    else
        change_triples(&changing, gradient);
    use(context, &changing.changes);
}

struct stepping {
    explicit_block *x;
    double factor;
};

static void change(void *context, const struct changes *changes)
{
    const struct stepping *stepping = context;
    explicit_block *x = stepping->x;
    const float sum = (float)x->base.weight_sum;
    for (size_t i = 0; i < changes->count; i++) {
        const size_t slot = changes->slot[i];
        const float by = (float)(stepping->factor * (double)changes->coefficient[i]);
        if (x->applied != NULL)
            md_explicit_catch_up(x, slot);
        md_explicit_note(x, slot);
        const float old = x->weight[slot];
        x->weight[slot] = old + by;
        x->norm2 += (double)by * (2 * (double)old + (double)by);
        if (x->what.averaging) /* what rounding leaves of the change */
            *md_explicit_correction(x, slot) -= sum * (x->weight[slot] - old);
    }
}

static double step(md_block *block, const md_step *step)
{
    arc_block *a = (arc_block *)block;
    md_explicit_mend_scale(&a->x);
    struct stepping stepping = {.x = &a->x, .factor = -step->eta / block->scale * a->what.gain};
    for (size_t g = 0; g < step->count; g++)
        for_all_changes(a, &step->gradients[g], change, &stepping);
    return md_explicit_step_norm(&a->x);
}

/* ---- slopes and lengths ---- */

struct sloping {
    explicit_block *x;
    double sum;
};

static void add_slope(void *context, const struct changes *changes)
{
    struct sloping *sloping = context;
    explicit_block *x = sloping->x;
    for (size_t i = 0; i < changes->count; i++) {
        if (x->applied != NULL)
            md_explicit_catch_up(x, changes->slot[i]);
        sloping->sum += (double)changes->coefficient[i] * (double)x->weight[changes->slot[i]];
    }
}

static double slope(md_block *block, const md_gradient *gradient)
{
    const arc_block *a = (const arc_block *)block;
    struct sloping sloping = {.x = &((arc_block *)block)->x};
    if (block->norm > 0)
        for_all_changes(a, gradient, add_slope, &sloping);
    return block->scale * a->what.gain * sloping.sum;
}

/* One feature, or one for each tag between or feature of a word: at most TAGS in nearly all arcs.
 */
static double self(const md_block *block, size_t row)
{
    enum { TAGS = 12 };
    const arc_block *a = (const arc_block *)block;
    (void)row;
    return a->what.gain * a->what.gain * (a->what.bag ? TAGS : 1);
}

struct entry {
    uint32_t slot;
    float coefficient;
};

static int by_slot(const void *one, const void *other)
{
    const uint32_t a = ((const struct entry *)one)->slot;
    const uint32_t b = ((const struct entry *)other)->slot;
    return (a > b) - (a < b);
}

struct entries {
    struct entry *list;
    size_t count;
};

static void collect(void *context, const struct changes *changes)
{
    struct entries *entries = context;
    for (size_t i = 0; i < changes->count; i++)
        entries->list[entries->count++] = (struct entry){changes->slot[i], changes->coefficient[i]};
}

/* Arcs that share a slot add up. */
static double gradient_norm2(md_block *block, const md_gradient *gradient)
{
    const arc_block *a = (const arc_block *)block;
    const size_t most = gradient->delta->count * (a->what.bag ? MD_ARC_MOST : 1) + 1;
    MD_OWNED(free) struct entry *list = md_calloc(most, sizeof *list);
    struct entries entries = {.list = list};
    if (list == NULL)
        return NAN; /* noticed as a norm that is not finite */
    for_all_changes(a, gradient, collect, &entries);
    qsort(entries.list, entries.count, sizeof *entries.list, by_slot);
    double square = 0;
    for (size_t i = 0; i < entries.count;) {
        double sum = 0;
        const uint32_t slot = entries.list[i].slot;
        for (; i < entries.count && entries.list[i].slot == slot; i++)
            sum += (double)entries.list[i].coefficient;
        square += sum * sum;
    }
    return a->what.gain * a->what.gain * square;
}

static const md_block_class arc_block_class = {
    .name = "arc",
    .score = score,
    .score_rows = score_rows,
    .step = step,
    .self = self,
    .slope = slope,
    .gradient_norm2 = gradient_norm2,
    MD_EXPLICIT_STATE,
};

medley_status md_arc_block_create(md_block **result, const md_arc_explicit *what,
                                  medley_error *error)
{
    arc_block *a;
    MEDLEY_TRY(md_new(&a, 1, sizeof *a, error));
    a->what = *what;
    a->x.base = (md_block){.class = &arc_block_class, .name = what->name};
    a->x.what = (md_explicit){.name = what->name,
                              .gain = what->gain,
                              .kind = what->parts == MD_ARC_ARCS       ? MD_ROW_PARTS
                                      : what->parts == MD_ARC_SIBLINGS ? MD_SIBLING_PARTS
                                                                       : MD_GRAND_PARTS,
                              .averaging = what->correction != NULL,
                              .thresholds = what->thresholds};
    a->x.features = (size_t)1 << what->bits;
    a->x.width = a->x.stride = 1;
    a->x.weight = what->weight;
    a->x.correction = what->correction ? (size_t)(what->correction - what->weight) : 0;
    return md_explicit_finish_create(result, &a->x, error);
}
