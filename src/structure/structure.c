/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/structure.h"

const md_structure *const md_structures[] = {
#define MD_STRUCTURE(name) &md_structure_##name,
#include "structure/structures.def"
#undef MD_STRUCTURE
    NULL};

const md_structure *md_structure_find(const char *name)
{
    for (size_t i = 0; md_structures[i] != NULL; i++)
        if (strcmp(md_structures[i]->name, name) == 0)
            return md_structures[i];
    return NULL;
}

int md_workspace_reserve(md_workspace *workspace, size_t floats)
{
    return md_reserve((void **)&workspace->values, &workspace->capacity, floats, sizeof(float));
}

void md_workspace_clear(md_workspace *workspace)
{
    free(workspace->values);
    *workspace = (md_workspace){0};
}

size_t md_one_part_per_row(md_shape shape, size_t length)
{
    (void)shape;
    return length;
}

void md_add_hamming_cost(md_shape shape, size_t length, const int32_t *gold, float *score)
{
    for (size_t i = 0; i < length; i++, score += shape.labels) {
        for (size_t l = 0; l < shape.labels; l++)
            score[l] += 1;
        score[gold[i]] -= 1;
    }
}

double md_hamming_cost(md_shape shape, size_t length, const int32_t *y, const int32_t *gold)
{
    (void)shape;
    double wrong = 0;
    for (size_t i = 0; i < length; i++)
        wrong += y[i] != gold[i];
    return wrong;
}

double md_most_hamming_cost(md_shape shape, size_t length)
{
    return shape.labels > 1 ? (double)length : 0;
}

double md_log_labellings(md_shape shape, size_t length)
{
    return (double)length * log((double)shape.labels);
}
