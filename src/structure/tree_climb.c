/* SPDX-License-Identifier: BSD-3-Clause */
/* A good tree of second order, which is hard to find the best of where arcs may cross (McDonald and
 * Satta 2007): hill climbing (Zhang, Lei, Barzilay and Jaakkola 2014) from several starts. A word
 * gets the head with which the tree scores highest, word by word, until none changes; where that
 * head hangs below the word, something on the way between them gets another head first, and where
 * trees have one root, the old root does. The first start is the best tree of the arcs alone;
 * others are best trees of arcs that count what they would bring with all other words as they are
 * in the tree found so far, and the same with noise.
 *
 * Words from one head stand in lists, one for each side, from the nearest on. */
#include "structure/tree.h"

enum { RESTARTS = 16, MOST_SWEEPS = 50 };
static const double NOISE = 1; /* a cost, or a margin, is one */
static const double LEAST_GAIN = 1e-9;

struct climb {
    const md_tree *tree;
    const md_sentence *sentence;
    const float *sibling, *grand; /* scores of parts */
    size_t words;
    size_t *arc;            /* [words + 1] of each word; SIZE_MAX: it hangs from nothing */
    int32_t *inner, *outer; /* [words + 1] the next words from the same head on that side, or 0 */
    int32_t *near[2];       /* [words + 1] the nearest word that hangs from it, left and right */
    int32_t *start;         /* [words] a tree as heads */
    float *tilted;          /* [words][words + 1] scores of arcs that make starts */
    float *scratch;
    uint64_t random;
};

size_t md_tree_climb_floats(size_t words)
{
    return md_chain_slice(2 * (words + 1)) + 4 * md_chain_slice(words + 1) + md_chain_slice(words) +
           md_chain_slice(words * (words + 1)) +
           md_max(md_tree_spanning_floats(words), md_tree_eisner_floats(words));
}

static struct climb make_climb(const md_tree *tree, float *scratch)
{
    const size_t words = tree->words;
    struct climb climb = {.tree = tree, .sentence = &tree->sentence, .words = words, .random = 1};
    climb.sibling = md_tree_second(tree);
    climb.grand = climb.sibling + tree->sentence.siblings;
    climb.arc = (size_t *)(void *)md_chain_take(&scratch, 2 * (words + 1));
    climb.inner = md_tree_take_whole(&scratch, words + 1);
    climb.outer = md_tree_take_whole(&scratch, words + 1);
    climb.near[0] = md_tree_take_whole(&scratch, words + 1);
    climb.near[1] = md_tree_take_whole(&scratch, words + 1);
    climb.start = md_tree_take_whole(&scratch, words);
    climb.tilted = md_chain_take(&scratch, words * (words + 1));
    climb.scratch = scratch;
    return climb;
}

/* ---- scores ---- */

static size_t head_of(const struct climb *climb, size_t arc)
{
    return climb->sentence->heads->head[arc];
}

static double sibling_score(const struct climb *climb, size_t arc, size_t inner)
{
    return (double)climb
        ->sibling[md_sentence_sibling(climb->sentence, arc, inner ? climb->arc[inner] : SIZE_MAX)];
}

static double end_score(const struct climb *climb, size_t arc)
{
    return (double)climb->sibling[md_sentence_end(climb->sentence, arc)];
}

static double grand_score(const struct climb *climb, size_t arc, size_t above)
{
    return (double)climb->grand[md_sentence_grand(climb->sentence, arc, above)];
}

/* ---- lists ---- */

/* The words that m would stand between, if it hung from h. */
struct place {
    size_t inner, outer; /* 0: none */
};

static struct place find_place(const struct climb *climb, size_t m, size_t h)
{
    const bool right = h < m;
    struct place place = {.outer = (size_t)climb->near[right][h]};
    while (place.outer != 0 && (right ? place.outer < m : place.outer > m)) {
        place.inner = place.outer;
        place.outer = (size_t)climb->outer[place.outer];
    }
    return place;
}

/* What m adds to the score of its siblings as an arc between two of them. */
static double sibling_gain(const struct climb *climb, size_t arc, struct place place)
{
    const md_sentence *sentence = climb->sentence;
    double gain = sibling_score(climb, arc, place.inner);
    if (place.outer != 0) {
        const size_t outer = climb->arc[place.outer];
        gain += (double)climb->sibling[md_sentence_sibling(sentence, outer, arc)] -
                sibling_score(climb, outer, place.inner);
    } else {
        gain += end_score(climb, arc);
        if (place.inner != 0)
            gain -= end_score(climb, climb->arc[place.inner]);
    }
    return gain;
}

/* What all parts that m has as a head or as a word are worth with this arc. */
static double gain_of(const struct climb *climb, size_t m, size_t arc)
{
    const size_t h = head_of(climb, arc);
    double gain = md_tree_arc(climb->tree, m, h);
    if (h > 0 && climb->arc[h] != SIZE_MAX)
        gain += grand_score(climb, arc, climb->arc[h]);
    for (size_t side = 0; side < 2; side++)
        for (size_t c = (size_t)climb->near[side][m]; c != 0; c = (size_t)climb->outer[c])
            gain += grand_score(climb, climb->arc[c], arc);
    return gain + sibling_gain(climb, arc, find_place(climb, m, h));
}

static void detach(struct climb *climb, size_t m)
{
    const size_t h = head_of(climb, climb->arc[m]);
    const int32_t inner = climb->inner[m];
    const int32_t outer = climb->outer[m];
    *(inner != 0 ? &climb->outer[inner] : &climb->near[h < m][h]) = outer;
    if (outer != 0)
        climb->inner[outer] = inner;
    climb->arc[m] = SIZE_MAX;
}

static void attach(struct climb *climb, size_t m, size_t arc)
{
    const size_t h = head_of(climb, arc);
    const struct place place = find_place(climb, m, h);
    *(place.inner != 0 ? &climb->outer[place.inner] : &climb->near[h < m][h]) = (int32_t)m;
    if (place.outer != 0)
        climb->inner[place.outer] = (int32_t)m;
    climb->inner[m] = (int32_t)place.inner;
    climb->outer[m] = (int32_t)place.outer;
    climb->arc[m] = arc;
}

/* Detaches m and tells what it was worth. */
static double take_off(struct climb *climb, size_t m)
{
    const size_t arc = climb->arc[m];
    detach(climb, m);
    return gain_of(climb, m, arc);
}

/* The heads as a tree to work on; false: one of them is none that its word may have. */
static bool load(struct climb *climb, const int32_t *heads)
{
    memset(climb->near[0], 0, (climb->words + 1) * sizeof *climb->near[0]);
    memset(climb->near[1], 0, (climb->words + 1) * sizeof *climb->near[1]);
    climb->arc[0] = SIZE_MAX;
    for (size_t m = 1; m <= climb->words; m++)
        climb->arc[m] = md_sentence_arc(climb->sentence, m, (size_t)heads[m - 1]);
    for (size_t m = 1; m <= climb->words; m++)
        if (climb->arc[m] == SIZE_MAX)
            return false;
    for (size_t m = 1; m <= climb->words; m++)
        attach(climb, m, climb->arc[m]);
    return true;
}

static double value_of(const struct climb *climb)
{
    double value = 0;
    for (size_t m = 1; m <= climb->words; m++) {
        const size_t arc = climb->arc[m];
        const size_t h = head_of(climb, arc);
        value +=
            md_tree_arc(climb->tree, m, h) + sibling_score(climb, arc, (size_t)climb->inner[m]);
        if (climb->outer[m] == 0)
            value += end_score(climb, arc);
        if (h > 0)
            value += grand_score(climb, arc, climb->arc[h]);
    }
    return value;
}

/* ---- changes ---- */

/* Is h below m, or m itself? */
static bool is_below(const struct climb *climb, size_t h, size_t m)
{
    while (h != 0 && h != m && climb->arc[h] != SIZE_MAX)
        h = head_of(climb, climb->arc[h]);
    return h == m;
}

/* Does an arc cross another of the tree? The root stands left of all words. */
static bool crosses(const struct climb *climb, size_t m, size_t h)
{
    const size_t from = h < m ? h : m;
    const size_t to = h < m ? m : h;
    for (size_t i = 1; i <= climb->words; i++) {
        if (i == m || climb->arc[i] == SIZE_MAX)
            continue;
        const size_t g = head_of(climb, climb->arc[i]);
        const size_t left = g < i ? g : i;
        const size_t right = g < i ? i : g;
        if ((left < from && from < right && right < to) || (from < left && left < to && to < right))
            return true;
    }
    return false;
}

static bool is_allowed(const struct climb *climb, size_t m, size_t arc)
{
    const size_t h = head_of(climb, arc);
    if (md_tree_constrained(climb->tree) && md_tree_breaks(climb->tree, m, h))
        return false;
    return !climb->tree->projective || !crosses(climb, m, h);
}

/* The best tree of arcs alone. */
static void find_start(struct climb *climb, const md_tree *arcs)
{
    if (arcs->projective)
        md_tree_eisner(arcs, climb->start, climb->scratch);
    else
        md_tree_spanning(arcs, climb->start, climb->scratch);
}

/* The best arc for m, which hangs from nothing: no head below it, nor below `under` (0: none), and
 * the root only if at_root. SIZE_MAX: there is none. */
static size_t best_arc(const struct climb *climb, size_t m, size_t under, bool at_root,
                       double *value)
{
    const md_sentence *sentence = climb->sentence;
    size_t best = SIZE_MAX;
    for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1); a++) {
        const size_t h = head_of(climb, a);
        if ((h == 0 && !at_root) || is_below(climb, h, m) || !is_allowed(climb, m, a) ||
            (under != 0 && is_below(climb, h, under)))
            continue;
        const double gain = gain_of(climb, m, a);
        if (best == SIZE_MAX || gain > *value) {
            best = a;
            *value = gain;
        }
    }
    return best;
}

/* Gives m its best head; returns what that gains. */
static double move_word(struct climb *climb, size_t m)
{
    const size_t old = climb->arc[m];
    const bool many = climb->tree->many_roots;
    if (!many && head_of(climb, old) == 0)
        return 0; /* move_root */
    const double before = take_off(climb, m);
    double after = before;
    size_t found = best_arc(climb, m, 0, many, &after);
    if (found == SIZE_MAX || !(after > before + LEAST_GAIN))
        found = old;
    attach(climb, m, found);
    return found == old ? 0 : after - before;
}

/* Two words get other heads: first one below m, which leaves m's words, then m, by this arc. If
 * that does not gain, they get their old ones back. */
static double move_two(struct climb *climb, size_t m, size_t arc, size_t other)
{
    const size_t old = climb->arc[m];
    const size_t old_other = climb->arc[other];
    const bool at_root = head_of(climb, old) == 0 || climb->tree->many_roots;
    double gain = -take_off(climb, other);
    double value = 0;
    const size_t found = best_arc(climb, other, m, at_root, &value);
    if (found == SIZE_MAX) {
        attach(climb, other, old_other);
        return 0;
    }
    attach(climb, other, found);
    gain += value - take_off(climb, m);
    const bool allowed = is_allowed(climb, m, arc);
    gain += gain_of(climb, m, arc);
    attach(climb, m, arc);
    if (allowed && gain > LEAST_GAIN)
        return gain;
    detach(climb, m);
    detach(climb, other);
    attach(climb, other, old_other);
    attach(climb, m, old);
    return 0;
}

/* m gets a head from below itself: that one, or the word below m on the way to it, moves first. */
static double turn_around(struct climb *climb, size_t m)
{
    const md_sentence *sentence = climb->sentence;
    double gained = 0;
    for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1); a++) {
        const size_t h = head_of(climb, a);
        if (h == 0 || !is_below(climb, h, m))
            continue;
        double gain = move_two(climb, m, a, h);
        size_t child = h;
        while (head_of(climb, climb->arc[child]) != m && head_of(climb, climb->arc[child]) != 0)
            child = head_of(climb, climb->arc[child]);
        if (gain == 0 && child != h && head_of(climb, climb->arc[child]) == m)
            gain = move_two(climb, m, a, child);
        gained += gain;
    }
    return gained;
}

/* Another word becomes the root's only one, and the old one gets a head. */
static double move_root(struct climb *climb, size_t m)
{
    const size_t arc = md_sentence_arc(climb->sentence, m, 0);
    const size_t old = climb->arc[m];
    size_t root = m;
    while (head_of(climb, climb->arc[root]) != 0)
        root = head_of(climb, climb->arc[root]);
    if (arc == SIZE_MAX || root == m)
        return 0;
    const size_t old_root = climb->arc[root];
    double gain = -take_off(climb, m) + gain_of(climb, m, arc);
    attach(climb, m, arc); /* two roots, for a moment */
    gain -= take_off(climb, root);
    double value = 0;
    const bool allowed = is_allowed(climb, m, arc);
    const size_t found = best_arc(climb, root, 0, false, &value);
    if (allowed && found != SIZE_MAX && gain + value > LEAST_GAIN) {
        attach(climb, root, found);
        return gain + value;
    }
    attach(climb, root, old_root);
    detach(climb, m);
    attach(climb, m, old);
    return 0;
}

static void improve(struct climb *climb)
{
    for (size_t sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        double gain = 0;
        for (size_t m = 1; m <= climb->words; m++)
            gain += move_word(climb, m);
        for (size_t m = 1; m <= climb->words && gain == 0; m++)
            gain += turn_around(climb, m);
        for (size_t m = 1; m <= climb->words && gain == 0 && !climb->tree->many_roots; m++)
            gain += move_root(climb, m);
        if (!(gain > 0))
            return;
    }
}

/* ---- starts ---- */

static void write_heads(const struct climb *climb, int32_t *heads)
{
    for (size_t m = 1; m <= climb->words; m++)
        heads[m - 1] = (int32_t)head_of(climb, climb->arc[m]);
}

static double draw(struct climb *climb)
{
    uint64_t x = climb->random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* The best tree of the arcs alone, where each counts what it would bring to the tree at hand, and
 * some noise. */
static void tilt(struct climb *climb, double noise)
{
    const md_sentence *sentence = climb->sentence;
    const size_t width = climb->words + 1;
    md_tree arcs = *climb->tree;
    for (size_t m = 1; m <= climb->words; m++) {
        const size_t old = climb->arc[m];
        float *row = climb->tilted + (m - 1) * width;
        detach(climb, m);
        for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1); a++)
            row[head_of(climb, a)] =
                (float)(gain_of(climb, m, a) - (noise > 0 ? noise * log(-log(draw(climb))) : 0));
        attach(climb, m, old);
    }
    arcs.score = climb->tilted; /* what is no head has kept its low score */
    arcs.gold = NULL;
    find_start(climb, &arcs);
}

static bool same_heads(const struct climb *climb, const int32_t *a, const int32_t *b)
{
    return memcmp(a, b, climb->words * sizeof *a) == 0;
}

void md_tree_climb(const md_tree *tree, int32_t *best, float *scratch)
{
    struct climb climb = make_climb(tree, scratch);
    md_tree arcs = *tree;
    double most = -INFINITY;
    md_tree_fill_heads(tree, 0, climb.tilted);
    arcs.score = climb.tilted;
    find_start(&climb, &arcs);
    for (size_t i = 0; i <= RESTARTS; i++) {
        if (i > 0)
            tilt(&climb, i == 1 ? 0 : NOISE);
        if ((i > 0 && same_heads(&climb, climb.start, best)) || !load(&climb, climb.start)) {
            if (i == 0) {
                memcpy(best, climb.start, climb.words * sizeof *best);
                return; /* what is asked cannot be: the caller looks */
            }
            load(&climb, best);
            continue;
        }
        improve(&climb);
        const double value = value_of(&climb);
        if (value > most || i == 0) {
            most = value;
            write_heads(&climb, best);
        } else {
            load(&climb, best);
        }
    }
    if (tree->gold == NULL || tree->projective || !load(&climb, tree->gold))
        return;
    improve(&climb); /* costs make no tree worse than the right one */
    if (value_of(&climb) > most)
        write_heads(&climb, best);
}
