/* SPDX-License-Identifier: BSD-3-Clause */
/* Forward-backward for chains of any order with logarithms in double precision: the exact way, for
 * scores so far apart that scaled probabilities (chain_sum.c) would lose what matters.
 *
 *   forward[t][s] = row score + log sum_k exp(forward[t-1][before(s,k)] + step) - shift[t]
 *   backward[t-1][r] = log sum_{s after r} exp(step + row score + backward[t][s])
 *
 * shift[t] makes the largest forward value 0, as backward's largest is made 0, so that numbers stay
 * small in long sequences; the probabilities of each row are divided by their own sum. */
#include "base/exp.h"
#include "base/vector.h"
#include "structure/chain.h"

struct pass {
    const md_chain *chain;
    size_t states;
    double *forward;       /* [length][states] */
    double *shift;         /* [length] */
    double *ahead, *here;  /* [states], filled up: backward values of row t and of row t-1 */
    double *term;          /* [labels], filled up */
    double *row;           /* [labels] row scores */
    double *pair, *triple; /* [labels^2], [labels^3]: expected counts where rows share them */
};

static size_t doubles(size_t labels, size_t order, size_t length)
{
    const size_t states = order >= 2 ? labels * labels : labels;
    return length * (states + 1) + 2 * md_chain_slice(states) + md_chain_slice(labels) + labels +
           (order >= 1 ? labels * labels : 0) + (order >= 2 ? labels * labels * labels : 0);
}

size_t md_chain_log_floats(md_shape shape, size_t length)
{
    return 2 * doubles(shape.labels, shape.order, length);
}

/* Fills values up to whole lanes with -inf, the logarithm of nothing. */
static void fill_up(double *values, size_t count)
{
    for (size_t i = count; i < md_chain_slice(count); i++)
        values[i] = -INFINITY;
}

static struct pass make_pass(const md_chain *chain, double *memory)
{
    const size_t labels = chain->labels;
    struct pass pass = {.chain = chain, .states = md_chain_states(chain)};
    pass.forward = memory;
    pass.shift = pass.forward + chain->length * pass.states;
    pass.ahead = pass.shift + chain->length;
    pass.here = pass.ahead + md_chain_slice(pass.states);
    pass.term = pass.here + md_chain_slice(pass.states);
    pass.row = pass.term + md_chain_slice(labels);
    pass.pair = pass.row + labels;
    pass.triple = pass.pair + labels * labels;
    fill_up(pass.ahead, pass.states);
    fill_up(pass.here, pass.states);
    fill_up(pass.term, labels);
    for (size_t i = 0; i < labels * labels && chain->order >= 1; i++)
        pass.pair[i] = 0;
    for (size_t i = 0; i < labels * labels * labels && chain->order >= 2; i++)
        pass.triple[i] = 0;
    return pass;
}

struct sum {
    double most, rest; /* largest term, and sum of exp(term - most) */
};

static double log_of(struct sum sum)
{
    return sum.most + log(sum.rest);
}

/* Replaces terms, filled up, by exp(term - most). */
MD_VECTOR(struct sum, exp_terms, (double *term, size_t count), (term, count))
{
    double most[MD_LANES];
    double rest[MD_LANES] = {0};
    struct sum sum = {.most = -INFINITY};
#pragma omp simd
    for (size_t i = 0; i < MD_LANES; i++)
        most[i] = term[i];
    for (size_t first = MD_LANES; first < count; first += MD_LANES) {
#pragma omp simd
        for (size_t i = 0; i < MD_LANES; i++)
            most[i] = term[first + i] > most[i] ? term[first + i] : most[i];
    }
    for (size_t i = 0; i < MD_LANES; i++)
        sum.most = most[i] > sum.most ? most[i] : sum.most;
    const double base = sum.most == -INFINITY ? 0 : sum.most; /* nothing at all: exp(-inf) = 0 */
    for (size_t first = 0; first < count; first += MD_LANES) {
#pragma omp simd
        for (size_t i = 0; i < MD_LANES; i++) {
            const double value = md_exp_double(term[first + i] - base);
            term[first + i] = value;
            rest[i] += value;
        }
    }
    for (size_t i = 0; i < MD_LANES; i++)
        sum.rest += rest[i];
    return sum;
}

/* Makes the largest of values 0 and returns what it was. */
static double shift_to_zero(double *values, size_t count)
{
    double most = values[0];
    for (size_t s = 1; s < count; s++)
        most = values[s] > most ? values[s] : most;
    for (size_t s = 0; s < count; s++)
        values[s] -= most;
    return most;
}

static void set_row(struct pass *pass, size_t t)
{
    for (size_t c = 0; c < pass->chain->labels; c++)
        pass->row[c] = md_chain_row_score(pass->chain, t, c);
}

/* log sum_k exp(score of the state before + step) into state s of row t > 0. */
static double sum_before(struct pass *pass, size_t t, size_t s)
{
    const md_chain *chain = pass->chain;
    const size_t labels = chain->labels;
    const double *before = pass->forward + (t - 1) * pass->states;
    if (chain->order == 2) {
        const double pair = (double)md_chain_pairs(chain, t)[s];
        before += s / labels;
        for (size_t k = 0; k < labels; k++)
            pass->term[k] = before[k * labels] + pair +
                            (t >= 2 ? (double)chain->triple[k * labels * labels + s] : 0);
    } else {
        for (size_t k = 0; k < labels; k++)
            pass->term[k] = before[k] + md_chain_step(chain, t, s, k);
    }
    const struct sum sum = exp_terms(pass->term, labels);
    fill_up(pass->term, labels);
    return log_of(sum);
}

static void go_forward(struct pass *pass)
{
    const size_t labels = pass->chain->labels;
    for (size_t t = 0; t < pass->chain->length; t++) {
        double *forward = pass->forward + t * pass->states;
        set_row(pass, t);
        for (size_t s = 0; s < pass->states; s += labels)
            for (size_t c = 0; c < labels; c++)
                if (t > 0)
                    forward[s + c] = pass->row[c] + sum_before(pass, t, s + c);
                else
                    forward[s + c] = s == 0 ? pass->row[c] : -INFINITY;
        pass->shift[t] = shift_to_zero(forward, pass->states);
    }
}

/* Backward value of state r of row t-1, and how often the steps from there are to be expected;
 * pass->ahead has row scores in it. log_total is that of all probabilities of row t. */
static double sum_after(struct pass *pass, size_t t, size_t r, double log_total)
{
    const md_chain *chain = pass->chain;
    const size_t labels = chain->labels;
    const size_t last = r % labels; /* the label of row t-1 */
    const double *ahead = pass->ahead + (chain->order == 2 ? last * labels : 0);
    for (size_t c = 0; c < labels; c++)
        pass->term[c] = ahead[c];
    if (chain->order >= 1) {
        const float *pair = md_chain_pairs(chain, t) + last * labels;
        for (size_t c = 0; c < labels; c++)
            pass->term[c] += (double)pair[c];
    }
    if (chain->order == 2 && t >= 2)
        for (size_t c = 0; c < labels; c++)
            pass->term[c] += (double)chain->triple[r * labels + c];
    const struct sum sum = exp_terms(pass->term, labels);
    const double before = pass->forward[(t - 1) * pass->states + r];
    const double scale = exp(before + sum.most - pass->shift[t] - log_total);
    for (size_t c = 0; c < labels && chain->order >= 1; c++)
        pass->pair[last * labels + c] += scale * pass->term[c];
    for (size_t c = 0; c < labels && chain->order == 2 && t >= 2; c++)
        pass->triple[r * labels + c] += scale * pass->term[c];
    fill_up(pass->term, labels);
    return log_of(sum);
}

/* Marginals of row t; returns the logarithm of the sum of its probabilities. */
static double finish_row(struct pass *pass, size_t t, float *marginal)
{
    const size_t labels = pass->chain->labels;
    const double *forward = pass->forward + t * pass->states;
    for (size_t s = 0; s < pass->states; s++)
        pass->here[s] = forward[s] + pass->ahead[s];
    const struct sum sum = exp_terms(pass->here, pass->states);
    fill_up(pass->here, pass->states);
    for (size_t c = 0; c < labels; c++) {
        double probability = 0;
        for (size_t s = c; s < pass->states; s += labels)
            probability += pass->here[s];
        marginal[c] = (float)(probability / sum.rest);
    }
    return log_of(sum);
}

static void go_back(struct pass *pass, const md_chain_counts *counts)
{
    const md_chain *chain = pass->chain;
    const size_t labels = chain->labels;
    for (size_t s = 0; s < pass->states; s++)
        pass->ahead[s] = 0;
    for (size_t t = chain->length; t-- > 0;) {
        const double log_total = finish_row(pass, t, counts->row + t * labels);
        if (t == 0)
            break;
        set_row(pass, t);
        for (size_t s = 0; s < pass->states; s += labels)
            for (size_t c = 0; c < labels; c++)
                pass->ahead[s + c] += pass->row[c];
        for (size_t r = 0; r < pass->states; r++)
            pass->here[r] = sum_after(pass, t, r, log_total);
        for (size_t i = 0; i < labels * labels && chain->pair_step > 0; i++) {
            counts->pair[(t - 1) * chain->pair_step + i] = (float)pass->pair[i];
            pass->pair[i] = 0;
        }
        shift_to_zero(pass->here, pass->states);
        md_swap(&pass->ahead, &pass->here);
    }
}

double md_chain_log_sum(const md_chain *chain, const md_chain_counts *counts, float *scratch)
{
    const size_t labels = chain->labels;
    struct pass pass = make_pass(chain, (double *)(void *)scratch);
    go_forward(&pass);
    double total = 0;
    for (size_t t = 0; t < chain->length; t++)
        total += pass.shift[t];
    for (size_t s = 0; s < pass.states; s++)
        pass.here[s] = pass.forward[(chain->length - 1) * pass.states + s];
    total += log_of(exp_terms(pass.here, pass.states));
    fill_up(pass.here, pass.states);
    go_back(&pass, counts);
    for (size_t i = 0; i < labels * labels && chain->order >= 1 && chain->pair_step == 0; i++)
        counts->pair[i] = (float)pass.pair[i];
    for (size_t i = 0; i < labels * labels * labels && chain->order >= 2; i++)
        counts->triple[i] = (float)pass.triple[i];
    return total;
}
