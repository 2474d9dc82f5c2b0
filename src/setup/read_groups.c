/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of groups of blocks (docs/guides/kernels-and-penalties.md): a line is a name, a list of
 * blocks and of other groups, and a weight. */
#include "setup/setup.h"

#include "penalty/groups.h"
#include <ctype.h>

static const double MOST_WEIGHT = 1e6;
enum { MOST_GROUPS = 4096 }; /* each has a flag for every block, and may hold the next one */

typedef enum progress { OPEN, BEGUN, DONE } progress;

struct group {
    char *name, *list; /* list: what stands between name and weight */
    size_t line;
    double weight;
    bool *member; /* [blocks] */
    progress progress;
};

struct file {
    const char *path;
    const md_problem *problem;
    size_t blocks; /* under the penalty */
    struct group *groups;
    size_t count, capacity;
    md_pool pool; /* of strings and members */
};

static void clear_file(struct file *file)
{
    free(file->groups);
    md_pool_clear(&file->pool);
}

#define FAIL(file, group, ...)                                                                     \
    md_fail_at(error, MEDLEY_BAD_INPUT, (file)->path, (group)->line, __VA_ARGS__)

static const struct group *find_group(const struct file *file, const char *name, size_t length)
{
    for (size_t g = 0; g < file->count; g++)
        if (strlen(file->groups[g].name) == length &&
            memcmp(file->groups[g].name, name, length) == 0)
            return &file->groups[g];
    return NULL;
}

/* ---- lines ---- */

static medley_status keep_text(struct file *file, char **copy, const char *text, size_t length,
                               medley_error *error)
{
    MEDLEY_TRY(md_pool_new(&file->pool, copy, length + 1, 1, error));
    memcpy(*copy, text, length);
    return MEDLEY_OK;
}

static medley_status check_group(const struct file *file, const struct group *group,
                                 const char *weight, medley_error *error)
{
    const struct group *before = find_group(file, group->name, strlen(group->name));
    if (!(group->weight > 0 && group->weight <= MOST_WEIGHT))
        return FAIL(file, group,
                    "the weight of group '%s' is '%s'; it must be a number above 0 and at most %g",
                    group->name, weight, MOST_WEIGHT);
    if (before != NULL)
        return FAIL(file, group, "group '%s' is there already, in line %zu; give it another name",
                    group->name, before->line);
    for (size_t c = 0; c < file->problem->candidate_count; c++)
        if (strcmp(file->problem->candidates[c].name, group->name) == 0)
            return FAIL(file, group, "group '%s' has the name of a block; give it another name",
                        group->name);
    return MEDLEY_OK;
}

static medley_status take_line(void *context, char *text, size_t line, medley_error *error)
{
    struct file *file = context;
    struct group group = {.line = line};
    const char *list = text + strcspn(text, " \t");
    const size_t name_length = (size_t)(list - text);
    const char *weight = text + strlen(text);
    while (weight > text && !isspace((unsigned char)weight[-1]))
        weight--;
    list += strspn(list, " \t");
    if (list >= weight)
        return FAIL(file, &group,
                    "'%s' is no group; write a name, blocks separated by commas, and a weight, "
                    "such as: colours rbf@red,rbf@green 1",
                    text);
    MEDLEY_TRY(keep_text(file, &group.name, text, name_length, error));
    MEDLEY_TRY(keep_text(file, &group.list, list, (size_t)(weight - list), error));
    MEDLEY_TRY(md_pool_new(&file->pool, &group.member, file->blocks, sizeof(bool), error));
    if (!md_parse_double(weight, &group.weight))
        group.weight = NAN;
    MEDLEY_TRY(check_group(file, &group, weight, error));
    if (file->count == MOST_GROUPS)
        return FAIL(file, &group, "there are more than %d groups; put blocks into fewer",
                    MOST_GROUPS);
    MEDLEY_TRY(md_grow(&file->groups, &file->capacity, file->count + 1, sizeof group, error));
    file->groups[file->count++] = group;
    return MEDLEY_OK;
}

/* ---- members ---- */

static medley_status find_members(struct file *file, struct group *group, medley_error *error);

/* One name of a group's list. */
static medley_status add_named(struct file *file, struct group *group, const char *name,
                               size_t length, medley_error *error)
{
    struct group *other = (struct group *)find_group(file, name, length);
    const md_candidate *own = NULL;
    bool found = other != NULL;
    if (other != NULL) {
        if (other->progress == BEGUN)
            return FAIL(file, group,
                        "group '%s' is inside of itself by way of '%s'; take one out of the other",
                        other->name, group->name);
        MEDLEY_TRY(find_members(file, other, error));
        for (size_t m = 0; m < file->blocks; m++)
            group->member[m] = group->member[m] || other->member[m];
    }
    for (size_t c = 0; other == NULL && c < file->problem->candidate_count; c++) {
        const md_candidate *candidate = &file->problem->candidates[c];
        if (!md_selection_matches(name, length, candidate->name,
                                  candidate->origin != MD_FROM_KERNEL))
            continue;
        found = found || c < file->blocks;
        if (c < file->blocks)
            group->member[c] = true;
        else
            own = candidate;
    }
    if (!found && own != NULL)
        return FAIL(file, group,
                    "block '%s' has an l2 term of its own and no part in the penalty; use `bigram="
                    "learned`",
                    own->name);
    if (!found)
        return FAIL(file, group,
                    "group '%s' names '%.*s', which is neither a block nor a group; the first "
                    "block is '%s'",
                    group->name, (int)length, name, file->problem->candidates[0].name);
    return MEDLEY_OK;
}

static medley_status find_members(struct file *file, struct group *group, medley_error *error)
{
    if (group->progress == DONE)
        return MEDLEY_OK;
    group->progress = BEGUN;
    int depth = 0;
    for (const char *p = group->list, *start = p;; p++) {
        depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
        const bool ends = *p == '\0' || ((*p == ',' || isspace((unsigned char)*p)) && depth <= 0);
        if (ends && p > start)
            MEDLEY_TRY(add_named(file, group, start, (size_t)(p - start), error));
        if (ends)
            start = p + 1;
        if (*p == '\0')
            break;
    }
    group->progress = DONE;
    return MEDLEY_OK;
}

/* ---- the penalty ---- */

medley_status md_problem_find_groups(md_problem *problem, medley_error *error)
{
    const char *path = problem->options->groups;
    MD_CLEARED(clear_file) struct file file = {.path = path, .problem = problem};
    MD_OWNED(free) md_group *list = NULL;
    md_block_groups *groups = NULL;
    if (path == NULL)
        return MEDLEY_OK;
    for (size_t c = 0; c < problem->candidate_count; c++)
        file.blocks += !problem->candidates[c].own_term;
    MEDLEY_TRY(md_read_lines(path, "`groups` takes a file with one group of blocks a line",
                             take_line, &file, error));
    if (file.count == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, 0,
                          "there are no groups in this file; write one a line: a name, blocks "
                          "separated by commas, and a weight");
    MEDLEY_TRY(md_new(&list, file.count, sizeof *list, error));
    for (size_t g = 0; g < file.count; g++) {
        MEDLEY_TRY(find_members(&file, &file.groups[g], error));
        list[g] = (md_group){.member = file.groups[g].member, .weight = file.groups[g].weight};
    }
    MEDLEY_TRY(md_block_groups_create(&groups, list, file.count, file.blocks, error));
    return md_penalty_add_groups(problem->penalty, groups, error);
}
