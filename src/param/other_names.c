/* SPDX-License-Identifier: BSD-3-Clause */
/* "Did you mean": names of other programs, and slips of the pen. */
#include "param/param.h"

#include "base/text.h"

static const struct {
    const char *other, *ours;
} names[] = {
#define MD_OTHER_NAME(other, ours) {other, ours},
#include "param/other_names.def"
#undef MD_OTHER_NAME
};

const char *md_nearest_name(const char *name, const char *const *known)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].other, name) == 0 && md_text_index(names[i].ours, known) >= 0)
            return names[i].ours;
    return md_text_nearest(name, known);
}
