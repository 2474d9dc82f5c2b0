/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures: what an output is made of. Part scores in; best outputs, cost-augmented output,
 * log-partition and part marginals out. A structure knows no kernels and no features.
 *
 * An example is `length` rows; an output is one whole number per row (a class, a tag, a head). The
 * score of an output is the sum of the scores of its parts, each as often as it occurs. Parts come
 * in kinds, and those of one kind in groups that belong to a row each: the first kind, one group
 * for each row, is there in every structure and comes first, so that part row * width + y says that
 * this row has y. The width is the number of labels, or in a tree of `length` words length + 1: the
 * heads a word may have, of which 0 is the root and its own place is none (its score is not looked
 * at).
 *
 * A structure is one file and one line in structures.def. */
#ifndef MD_STRUCTURE_H
#define MD_STRUCTURE_H

#include "base/base.h"

/* What the outputs of a run look like; a structure looks only at what concerns it. */
typedef struct md_shape {
    size_t labels;
    size_t order;     /* chains: labels that look back on so many others: 0, 1 or 2; trees: 2 where
                         siblings and grandparents have scores */
    bool local_pairs; /* chains: pairs of labels have scores of their own at every row */
    bool ends;        /* chains: the first and the last label of a sequence are scored too */
    bool many_roots;  /* trees: any number of words hangs from the root, not just one */
    bool projective;  /* trees: no two arcs cross */
    bool pruned;      /* trees: words may have some of the heads only */
    const struct md_heads *heads; /* trees: which ones, where that is known; NULL: all of them */

    /* Of structures that a program has brought (custom.c). */
    const struct medley_structure *custom;
    const int32_t *info; /* [rows][info_width] of the data set, or NULL */
    size_t info_width;

    /* Where the example begins in the data set. Structures that look at it, which are those that a
     * program has brought and trees with heads, have other parts in every example. */
    size_t row;
} md_shape;

/* No example: sizes are then those that suffice for any of them. */
#define MD_ANY_ROW SIZE_MAX

static inline md_shape md_shape_at(md_shape shape, size_t row)
{
    shape.row = row;
    return shape;
}

typedef enum md_part_kind {
    MD_ROW_PARTS,     /* labels of a row, heads of a word */
    MD_PAIR_PARTS,    /* labels^2: previous label * labels + label */
    MD_TRIPLE_PARTS,  /* labels^3: (one before * labels + previous) * labels + label */
    MD_END_PARTS,     /* 2 labels: first label, then labels + last label */
    MD_SHARED_PARTS,  /* of a structure that a program has brought */
    MD_SIBLING_PARTS, /* words with one head, next to each other on one side of it (heads.h) */
    MD_GRAND_PARTS,   /* words with their head and its head */
    MD_PART_KINDS
} md_part_kind;

/* Group g = 0 .. count-1 of a kind has parts first + g * width .. + width-1 and belongs to row
 * row + g. Where all rows share their parts, there is one group. */
typedef struct md_groups {
    size_t first, width, count, row;
} md_groups;

/* A sparse vector over parts, such as the gradient of a loss in the part scores. Row parts come
 * first and those of a row stand together. */
typedef struct md_delta {
    uint32_t *part; /* [count] each once */
    float *coefficient;
    size_t count;
    uint32_t *row;   /* [row_count] rows that have parts here */
    uint32_t *start; /* [row_count + 1] where each row's begin; behind them parts of other kinds */
    size_t row_count;
    float *dense; /* [part_count] the same as a full vector */
} md_delta;

/* What outputs are: a structure and a shape. */
typedef struct md_space {
    const struct md_structure *structure;
    md_shape shape;
} md_space;

/* Scratch memory of decoders, grown before a run to the longest example. */
typedef struct md_workspace {
    float *values;
    size_t capacity;
    bool ready;          /* the structure has looked ahead at the scores at hand */
    const char *failure; /* of a structure that a program has brought; NULL: none */
} md_workspace;

/* An example that will be looked at soon. */
typedef struct md_ahead {
    md_shape shape;
    size_t length;
    const float *score;
    const int32_t *gold; /* the right output, NULL: costs do not matter */
    md_workspace *workspace;
} md_ahead;

typedef struct md_structure {
    const char *name, *summary;

    size_t (*part_count)(md_shape shape, size_t length);
    md_groups (*groups)(md_shape shape, size_t length, md_part_kind kind); /* count 0: has none */

    /* Floats of workspace the functions below need for an example of this length. */
    size_t (*workspace_size)(md_shape shape, size_t length);

    /* The parts of output y into parts, row by row within each kind; returns how many, which is the
     * same for all outputs of this length unless a program has brought the structure, and at most
     * parts_per_output. */
    size_t (*parts_of)(md_shape shape, size_t length, const int32_t *y, uint32_t *parts);
    size_t (*parts_per_output)(md_shape shape, size_t length);

    /* argmax_y f(y) into best; returns its score. given[length] (NULL: none): labels that are
     * known, -1 where they are not; only outputs that agree with them are looked at. */
    double (*decode)(md_shape shape, size_t length, const float *score, const int32_t *given,
                     int32_t *best, md_workspace *workspace);

    /* The `wanted` best outputs, best first, all different, into outputs[wanted][length], and their
     * scores; returns how many there are. It needs best_workspace_size floats of workspace. */
    size_t (*decode_best)(md_shape shape, size_t length, const float *score, size_t wanted,
                          int32_t *outputs, double *values, md_workspace *workspace);
    size_t (*best_workspace_size)(md_shape shape, size_t length, size_t wanted);

    /* argmax_y f(y) + cost(y, gold) into worst; returns its value. */
    double (*decode_with_cost)(md_shape shape, size_t length, const float *score,
                               const int32_t *gold, int32_t *worst, md_workspace *workspace);

    /* Adds to the part scores what a cost is made of: afterwards f(y) is f(y) + cost(y, gold). */
    void (*add_cost)(md_shape shape, size_t length, const int32_t *gold, float *score);

    /* log sum_y exp f(y); marginal[part] = how often the part is expected to occur. */
    double (*log_partition)(md_shape shape, size_t length, const float *score, float *marginal,
                            md_workspace *workspace);

    double (*cost)(md_shape shape, size_t length, const int32_t *y, const int32_t *gold);

    /* Why an output that is known to have existing labels is none; NULL: it is one. parts: room for
     * twice parts_per_output. Without this function all of them are outputs. */
    const char *(*check_output)(md_shape shape, size_t length, const int32_t *y, uint32_t *parts);

    /* Are outputs not proven to be the best, or sums approximated? NULL: neither is. */
    bool (*approximates)(md_shape shape);

    double (*most_cost)(md_shape shape, size_t length);   /* largest cost of any output */
    double (*log_outputs)(md_shape shape, size_t length); /* log of the number of outputs */

    /* NULL: looking ahead gains nothing. Otherwise, where looks_ahead says so, examples whose best
     * outputs (or marginals) are asked for next, of which each has these scores, plus costs where
     * gold is given; called from one thread at a time. */
    void (*look_ahead)(const md_ahead *examples, size_t count, bool marginals);
    bool (*looks_ahead)(md_shape shape);
} md_structure;

/* The functions that every structure's file has under these names; and all costs of labels of which
 * each wrong one costs 1. */
#define MD_STRUCTURE_FUNCTIONS                                                                     \
    .part_count = part_count, .groups = groups, .workspace_size = workspace_size,                  \
    .parts_of = parts_of, .decode = decode, .decode_with_cost = decode_with_cost,                  \
    .log_partition = log_partition, .cost = md_hamming_cost
#define MD_K_BEST    .decode_best = decode_best, .best_workspace_size = best_workspace_size
#define MD_LABELLING .add_cost = md_add_hamming_cost, .log_outputs = md_log_labellings

#define MD_STRUCTURE(name) extern const md_structure md_structure_##name;
#include "structure/structures.def"
#undef MD_STRUCTURE
extern const md_structure md_structure_custom;    /* of shape.custom; it is not in the list */
extern const md_structure *const md_structures[]; /* NULL-terminated */
const md_structure *md_structure_find(const char *name);

static inline bool md_looks_ahead(md_space space)
{
    return space.structure->looks_ahead != NULL && space.structure->looks_ahead(space.shape);
}

/* The name that models keep: "" if nothing is decoded. */
const char *md_space_name(md_space space);

/* What went wrong with a structure that a program has brought. */
medley_status md_fail_structure(md_space space, const char *failure, medley_error *error);

/* Row parts of a row. */
static inline size_t md_row_width(md_space space, size_t length)
{
    return space.structure->groups(space.shape, length, MD_ROW_PARTS).width;
}

/* parts_per_output of structures that have row parts only. */
size_t md_one_part_per_row(md_shape shape, size_t length);

/* For structures whose outputs are any labels of the rows, where every wrong one costs 1. */
double md_hamming_cost(md_shape shape, size_t length, const int32_t *y, const int32_t *gold);
double md_most_hamming_cost(md_shape shape, size_t length);
void md_add_hamming_cost(md_shape shape, size_t length, const int32_t *gold, float *score);
double md_log_labellings(md_shape shape, size_t length);

/* Returns 0, or -1 for lack of memory. */
int md_workspace_reserve(md_workspace *workspace, size_t floats);
void md_workspace_clear(md_workspace *workspace);

#endif
