/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over trees of second order, which cannot be had exactly: a mean field around the sum over
 * all trees. Among distributions q over trees whose scores are those of arcs,
 *
 *   F(mu) = H(mu) + sum_a theta_a mu_a + E_2(mu),
 *
 * mu the probabilities of arcs under q and H its entropy, where E_2 is what parts of second order
 * would bring if arcs were there independently of each other: a sibling part the product of both
 * arcs' mu and of 1 - mu of all between them. F is stationary where q's scores are theta_a +
 * dE_2/dmu_a, which is repeated until mu stays. Its slope in the score of a part is then that
 * part's expectation, so that value and marginals fit together; without scores of second order it
 * is the exact sum. */
#include "structure/tree.h"

enum { MOST_ROUNDS = 40 };
static const double STAYS = 1e-5;
static const float LOW =
    200; /* of heads that words cannot have, below the best: exp(-200) is nothing */

struct field {
    const md_tree *tree;
    const md_sentence *sentence;
    const float *sibling, *grand; /* scores */
    size_t first, arcs;           /* of the sentence */
    double *mu;                   /* [arcs] probabilities */
    double *score;                /* [arcs] of the trees that these come from */
    double *slope;                /* [arcs] theta + dE_2/dmu */
    uint32_t *list;               /* [arcs] by head and side, the nearest first: numbers of arcs */
    uint32_t *place;          /* [2 * (words + 1) + 1] where the list of a head and side begins */
    double *reach;            /* [words] of one list */
    float *tilted, *marginal; /* [words][words + 1] */
    float *scratch;
};

size_t md_tree_field_floats(size_t words)
{
    const size_t arcs = words * (words + 1);
    return 3 * md_chain_slice(2 * arcs) + md_chain_slice(arcs) + md_chain_slice(2 * words + 3) +
           md_chain_slice(2 * (words + 1)) + 2 * md_chain_slice(arcs);
}

static size_t list_of(const struct field *field, size_t arc, size_t m)
{
    const size_t h = field->sentence->heads->head[arc];
    return 2 * h + (h < m);
}

static void sort_arcs(struct field *field)
{
    const md_sentence *sentence = field->sentence;
    const size_t lists = 2 * (sentence->words + 1);
    memset(field->place, 0, (lists + 1) * sizeof *field->place);
    for (size_t m = 1; m <= sentence->words; m++)
        for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1); a++)
            field->place[list_of(field, a, m) + 1]++;
    for (size_t l = 0; l < lists; l++)
        field->place[l + 1] += field->place[l];
    for (size_t m = 1; m <= sentence->words; m++)
        for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1); a++)
            field->list[field->place[list_of(field, a, m)] + sentence->heads->rank[a]] =
                (uint32_t)(a - field->first);
}

static struct field make_field(const md_tree *tree, float *scratch)
{
    const md_sentence *sentence = &tree->sentence;
    const size_t words = tree->words;
    const size_t most = words * (words + 1);
    struct field field = {.tree = tree, .sentence = sentence};
    field.first = sentence->heads->first[sentence->row];
    field.arcs = sentence->heads->first[sentence->row + words] - field.first;
    field.sibling = md_tree_second(tree);
    field.grand = field.sibling + sentence->siblings;
    field.mu = md_tree_take(&scratch, most);
    field.score = md_tree_take(&scratch, most);
    field.slope = md_tree_take(&scratch, most);
    field.list = (uint32_t *)md_tree_take_whole(&scratch, most);
    field.place = (uint32_t *)md_tree_take_whole(&scratch, 2 * words + 3);
    field.reach = md_tree_take(&scratch, words + 1);
    field.tilted = md_chain_take(&scratch, most);
    field.marginal = md_chain_take(&scratch, most);
    field.scratch = scratch;
    return field;
}

/* ---- siblings of one head and side ---- */

static float sibling_score(const struct field *field, size_t outer, size_t inner)
{
    return field->sibling[md_sentence_sibling(field->sentence, field->first + outer,
                                              inner == SIZE_MAX ? inner : field->first + inner)];
}

static float end_score(const struct field *field, size_t arc)
{
    return field->sibling[md_sentence_end(field->sentence, field->first + arc)];
}

/* Adds to the slopes of a list of count arcs and returns what its parts bring. reach[i] is what i
 * would bring with what is there of those before k, as k goes on; next is the probability that i is
 * the first after k. The slope of k is the difference between its being there and not. */
static double add_list(struct field *field, const uint32_t *list, size_t count)
{
    double *reach = field->reach;
    double end = 0; /* what the end brings with those before k */
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        reach[i] = (double)sibling_score(field, list[i], SIZE_MAX);
    for (size_t k = 0; k < count; k++) {
        const double p = field->mu[list[k]];
        const double own_end = (double)end_score(field, list[k]);
        double none = 1; /* of those after k is there */
        double with = reach[k];
        double without = 0;
        for (size_t i = k + 1; i < count; i++) {
            const double next = none * field->mu[list[i]];
            with += next * (double)sibling_score(field, list[i], list[k]);
            without += next * reach[i];
            none *= 1 - field->mu[list[i]];
        }
        with += none * own_end;
        without += none * end;
        field->slope[list[k]] += with - without;
        sum += p * (reach[k] + none * own_end);
        for (size_t i = k + 1; i < count; i++)
            reach[i] += p * ((double)sibling_score(field, list[i], list[k]) - reach[i]);
        end += p * (own_end - end);
    }
    return sum;
}

static double add_siblings(struct field *field)
{
    double sum = 0;
    for (size_t l = 0; l < 2 * (field->sentence->words + 1); l++)
        sum +=
            add_list(field, field->list + field->place[l], field->place[l + 1] - field->place[l]);
    return sum;
}

/* Both arcs of a part: h -> m and g -> h. A word is not its own head's head. */
static double add_grands(struct field *field)
{
    const md_sentence *sentence = field->sentence;
    const uint16_t *head = sentence->heads->head;
    const double *mu = field->mu - field->first;
    double *slope = field->slope - field->first;
    const float *score = field->grand;
    double sum = 0;
    for (size_t m = 1; m <= sentence->words; m++)
        for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1);
             a++) {
            const size_t h = head[a];
            if (h == 0)
                continue;
            for (size_t b = md_sentence_first(sentence, h); b < md_sentence_first(sentence, h + 1);
                 b++, score++) {
                if (head[b] == m)
                    continue;
                slope[a] += (double)*score * mu[b];
                slope[b] += (double)*score * mu[a];
                sum += (double)*score * mu[a] * mu[b];
            }
        }
    return sum;
}

static void write_grands(const struct field *field, float *marginal)
{
    const md_sentence *sentence = field->sentence;
    for (size_t i = 0; i < sentence->grands; i++) {
        const md_triple *part = &sentence->grand[i];
        const size_t arc = md_sentence_arc(sentence, part->word, part->head);
        const size_t above = md_sentence_arc(sentence, part->head, part->third);
        marginal[i] =
            part->third == part->word
                ? 0
                : (float)(field->mu[arc - field->first] * field->mu[above - field->first]);
    }
}

static void write_siblings(const struct field *field, float *marginal)
{
    const md_sentence *sentence = field->sentence;
    for (size_t l = 0; l < 2 * (sentence->words + 1); l++) {
        const uint32_t *list = field->list + field->place[l];
        const size_t count = field->place[l + 1] - field->place[l];
        for (size_t k = 0; k < count; k++) {
            const size_t arc = field->first + list[k];
            double none = field->mu[list[k]];
            for (size_t i = k; i-- > 0;) {
                marginal[md_sentence_sibling(sentence, arc, field->first + list[i])] =
                    (float)(none * field->mu[list[i]]);
                none *= 1 - field->mu[list[i]];
            }
            marginal[md_sentence_sibling(sentence, arc, SIZE_MAX)] = (float)none;
            none = field->mu[list[k]];
            for (size_t i = k + 1; i < count; i++)
                none *= 1 - field->mu[list[i]];
            marginal[md_sentence_end(sentence, arc)] = (float)none;
        }
    }
}

/* ---- rounds ---- */

/* The sum over trees whose arcs have these scores; mu becomes their probabilities. change: the
 * largest of mu. */
static double sum_trees(struct field *field, double *change)
{
    const md_sentence *sentence = field->sentence;
    const size_t width = sentence->words + 1;
    md_tree arcs = *field->tree;
    for (size_t m = 1; m <= sentence->words; m++) {
        const size_t end = md_sentence_first(sentence, m + 1);
        float *row = field->tilted + (m - 1) * width;
        float top = -INFINITY;
        for (size_t a = md_sentence_first(sentence, m); a < end; a++)
            top = fmaxf(top, (float)field->score[a - field->first]);
        for (size_t h = 0; h < width; h++)
            row[h] = top - LOW;
        for (size_t a = md_sentence_first(sentence, m); a < end; a++)
            row[sentence->heads->head[a]] = (float)field->score[a - field->first];
    }
    arcs.score = field->tilted;
    const double sum = md_tree_sum(&arcs, field->marginal, field->scratch);
    *change = 0;
    for (size_t m = 1; m <= sentence->words; m++)
        for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1);
             a++) {
            const double p = (double)field->marginal[(m - 1) * width + sentence->heads->head[a]];
            *change = fmax(*change, fabs(p - field->mu[a - field->first]));
            field->mu[a - field->first] = p;
        }
    return sum;
}

/* slope = theta + dE_2/dmu; returns E_2. */
static double find_slopes(struct field *field)
{
    const md_sentence *sentence = field->sentence;
    for (size_t m = 1; m <= sentence->words; m++)
        for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1); a++)
            field->slope[a - field->first] =
                (double)md_tree_row(field->tree, m)[sentence->heads->head[a]];
    return md_tree_has_second(field->tree) ? add_siblings(field) + add_grands(field) : 0;
}

/* H + theta mu + E_2, with the sum of the trees that mu comes from. */
static double free_energy(struct field *field, double sum)
{
    const md_sentence *sentence = field->sentence;
    double value = sum + find_slopes(field);
    for (size_t m = 1; m <= sentence->words; m++)
        for (size_t a = md_sentence_first(sentence, m); a < md_sentence_first(sentence, m + 1);
             a++) {
            const double theta = (double)md_tree_row(field->tree, m)[sentence->heads->head[a]];
            value += (theta - field->score[a - field->first]) * field->mu[a - field->first];
        }
    return value;
}

double md_tree_field(const md_tree *tree, float *marginal, float *scratch)
{
    struct field field = make_field(tree, scratch);
    const size_t arcs = tree->words * (tree->words + 1);
    double change;
    memset(field.mu, 0, field.arcs * sizeof *field.mu);
    if (md_tree_has_second(tree))
        sort_arcs(&field);
    find_slopes(&field); /* mu is 0: those of arcs alone, and of words that are the only ones */
    memcpy(field.score, field.slope, field.arcs * sizeof *field.score);
    double sum = sum_trees(&field, &change);
    for (size_t round = 0; md_tree_has_second(tree) && round < MOST_ROUNDS && change > STAYS;
         round++) {
        const double share = round < 2 ? 1 : 0.5; /* halves where it goes to and fro */
        find_slopes(&field);
        for (size_t a = 0; a < field.arcs; a++)
            field.score[a] += share * (field.slope[a] - field.score[a]);
        sum = sum_trees(&field, &change);
    }
    memcpy(marginal, field.marginal, arcs * sizeof *marginal);
    if (!md_tree_has_second(tree))
        return sum;
    write_siblings(&field, marginal + arcs);
    write_grands(&field, marginal + arcs + tree->sentence.siblings);
    return free_energy(&field, sum);
}
