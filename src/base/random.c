/* SPDX-License-Identifier: BSD-3-Clause */
/* xoshiro256++ of Blackman and Vigna (2019), seeded by splitmix64; normals by Marsaglia's polar
 * method; bounded integers by rejection (arc4random_uniform's threshold); Fisher-Yates shuffle. */
#include "base/random.h"

static uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

void md_random_seed(md_random *random, uint64_t seed)
{
    /* splitmix64 spreads the seed so that nearby seeds give unrelated states */
    for (int i = 0; i < 4; i++) {
        seed += 0x9e3779b97f4a7c15u;
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        random->state[i] = z ^ (z >> 31);
    }
}

uint64_t md_random_bits(md_random *random)
{
    uint64_t *s = random->state;
    const uint64_t result = rotate(s[0] + s[3], 23) + s[0];
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double md_random_uniform(md_random *random)
{
    return (double)(md_random_bits(random) >> 11) * 0x1.0p-53;
}

double md_random_normal(md_random *random)
{
    /* Marsaglia's polar method; the second value is dropped to keep the state explicit */
    double u;
    double v;
    double s;
    do {
        u = 2 * md_random_uniform(random) - 1;
        v = 2 * md_random_uniform(random) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * sqrt(-2 * log(s) / s);
}

size_t md_random_below(md_random *random, size_t bound)
{
    const uint64_t threshold = (0 - (uint64_t)bound) % bound;
    uint64_t bits;
    do {
        bits = md_random_bits(random);
    } while (bits < threshold);
    return (size_t)(bits % bound);
}

void md_random_shuffle(md_random *random, size_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t j = md_random_below(random, i);
        const size_t kept = items[i - 1];
        items[i - 1] = items[j];
        items[j] = kept;
    }
}
