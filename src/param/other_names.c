/* SPDX-License-Identifier: BSD-3-Clause */
/* "Did you mean": names of other programs, and slips of the pen. */
#include "param/param.h"

#include "base/text.h"
#include <ctype.h>

static const struct {
    const char *other, *ours;
} names[] = {
#define MD_OTHER_NAME(other, ours) {other, ours},
#include "param/other_names.def"
#undef MD_OTHER_NAME
};

static int folded(char letter)
{
    return letter == '_' ? '-' : tolower((unsigned char)letter);
}

/* Are they the same but for capitals, and dashes in place of underscores? */
static bool is_called(const char *name, const char *other)
{
    while (*name != '\0' && folded(*name) == folded(*other)) {
        name++;
        other++;
    }
    return *name == *other;
}

const char *md_nearest_name(const char *name, const char *const *known)
{
    for (size_t i = 0; known[i] != NULL; i++)
        if (is_called(name, known[i]))
            return known[i];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_called(name, names[i].other) && md_text_index(names[i].ours, known) >= 0)
            return names[i].ours;
    return md_text_nearest(name, known);
}
