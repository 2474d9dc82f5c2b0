/* SPDX-License-Identifier: BSD-3-Clause */
/* Templates with several features at once (bags): tags between the ends of an arc, single features
 * of a word such as Case=Dat, and what both ends have of each. */
#include "feature/arc_values.h"

static const uint32_t ABSENT = 0x452821e6u; /* the value of a name that one end does not have */

static uint32_t join(uint32_t name, uint32_t value)
{
    return md_arc_spread(name * 0x9e3779b1u + value);
}

/* Puts a name and its value where they belong. */
static void insert(uint32_t *list, uint32_t name, uint32_t value)
{
    uint32_t place = list[0]++;
    for (; place > 0 && list[2 * place - 1] > name; place--) {
        list[2 * place + 1] = list[2 * place - 1];
        list[2 * place + 2] = list[2 * place];
    }
    list[2 * place + 1] = name;
    list[2 * place + 2] = value;
}

/* Case=Dat|Number=Sing: names and values are hashed, what has no = is a name. */
void md_arc_feats_read(const char *text, uint32_t list[MD_ARC_FEATS])
{
    list[0] = 0;
    if (strcmp(text, "_") == 0)
        return;
    while (*text != '\0' && list[0] < MD_ARC_FEATS_MOST) {
        const size_t length = strcspn(text, "|");
        const char *sign = memchr(text, '=', length);
        const size_t name = sign != NULL ? (size_t)(sign - text) : length;
        if (length > 0)
            insert(list, md_arc_hash(text, name), md_arc_hash(text + name, length - name));
        text += length + (text[length] != '\0');
    }
}

static size_t list_one(const uint32_t *list, uint32_t *hash)
{
    for (size_t i = 0; i < list[0]; i++)
        hash[i] = join(list[2 * i + 1], list[2 * i + 2]);
    return list[0];
}

/* The name at a place of a list; after the last one more than any name. */
static uint64_t name_at(const uint32_t *list, size_t place)
{
    return place < list[0] ? list[2 * place + 1] : UINT64_MAX;
}

/* One for each name that either has, with the values of both. */
static size_t list_both(const uint32_t *head, const uint32_t *modifier, uint32_t *hash)
{
    size_t count = 0;
    size_t h = 0;
    size_t m = 0;
    while (h < head[0] || m < modifier[0]) {
        const uint64_t left = name_at(head, h);
        const uint64_t right = name_at(modifier, m);
        const uint32_t of_head = left <= right ? head[2 * h + 2] : ABSENT;
        const uint32_t of_modifier = right <= left ? modifier[2 * m + 2] : ABSENT;
        hash[count++] = join(join((uint32_t)(left < right ? left : right), of_head), of_modifier);
        h += left <= right;
        m += right <= left;
    }
    return count;
}

size_t md_arc_bag_of(const md_arc_key *key, size_t m, size_t h, uint32_t hash[MD_ARC_MOST])
{
    const uint32_t *head = key->feats + h * MD_ARC_FEATS;
    const uint32_t *modifier = key->feats + m * MD_ARC_FEATS;
    size_t count = 0;
    switch (key->bag) {
    case MD_ARC_TAG_BAG:
        for (uint32_t rest = key->tags[(m - 1) * (key->length + 1) + h]; rest != 0;
             rest &= rest - 1)
            hash[count++] = key->tag_hash[__builtin_ctz(rest)];
        return count;
    case MD_ARC_HEAD_BAG:
        return list_one(head, hash);
    case MD_ARC_MODIFIER_BAG:
        return list_one(modifier, hash);
    case MD_ARC_BOTH_BAG:
        return list_both(head, modifier, hash);
    default:
        hash[0] = 0;
        return 1;
    }
}
