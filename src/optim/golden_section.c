/* SPDX-License-Identifier: BSD-3-Clause */
/* Each value is of use twice: of the two points in the new interval one is known from before. */
#include "optim/optim.h"

static const double GOLDEN = 0.618033988749895;

static double inner_point(const md_golden *golden, size_t which)
{
    const double part = GOLDEN * (golden->high - golden->low);
    return which == 0 ? golden->high - part : golden->low + part;
}

md_golden md_golden_over(double length)
{
    md_golden golden = {.high = length};
    golden.point[0] = inner_point(&golden, 0);
    golden.point[1] = inner_point(&golden, 1);
    return golden;
}

/* Without the part beyond the worse point; the better one is the other's neighbour then. */
static void shrink(md_golden *golden)
{
    const size_t worse = golden->value[0] < golden->value[1];
    *(worse ? &golden->high : &golden->low) = golden->point[worse];
    golden->point[worse] = golden->point[1 - worse];
    golden->value[worse] = golden->value[1 - worse];
    golden->asked = 1 - worse;
    golden->point[golden->asked] = inner_point(golden, golden->asked);
    golden->known = 1;
}

double md_golden_ask(md_golden *golden)
{
    if (golden->known == 2)
        shrink(golden);
    else
        golden->asked = golden->known;
    return golden->point[golden->asked];
}

void md_golden_tell(md_golden *golden, double value)
{
    golden->value[golden->asked] = value;
    golden->known++;
}
