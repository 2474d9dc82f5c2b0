/* SPDX-License-Identifier: BSD-3-Clause */
/* The section of coefficients: what the outputs are, the bias, bodies and the terms that use them.
 * Float64 bodies are kept as they are, so that the certificate is one of the saved model. */
#include "file/file.h"

enum { ROUNDED = 1, EXACT = 2 }; /* float64 bodies: in scores they are rounded, or not; else 0 */

void md_pack_doubles(md_text *out, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        md_pack_f64(out, values[i]);
}

void md_bodies_pack(md_text *out, const medley_model *model)
{
    const size_t outputs = model->outputs;
    const size_t biases = model->bias != NULL ? outputs : 0;
    md_pack_u64(out, outputs);
    md_pack_u64(out, model->link);
    md_pack_u64(out, biases);
    md_pack_doubles(out, model->bias, biases);
    md_pack_u64(out, model->body_count);
    for (size_t b = 0; b < model->body_count; b++) {
        const md_body *body = &model->bodies[b];
        md_pack_u64(out, body->rows);
        md_pack_u64(out, body->float64 == NULL ? 0 : body->exact ? EXACT : ROUNDED);
        if (body->float64 != NULL)
            md_pack_doubles(out, body->float64, body->rows * outputs);
        else
            md_pack_floats(out, body->values, body->rows * outputs);
    }
    md_pack_u64(out, model->term_count);
    for (size_t t = 0; t < model->term_count; t++) {
        md_pack_u64(out, model->terms[t].kernel);
        md_pack_u64(out, model->terms[t].body);
        md_pack_f64(out, model->terms[t].factor);
    }
}

double *md_unpack_doubles(md_unpack *in, size_t count)
{
    double *values = in->bad ? NULL : md_calloc(count, sizeof *values);
    in->no_memory = in->no_memory || (!in->bad && values == NULL);
    in->bad = in->bad || values == NULL;
    for (size_t i = 0; !in->bad && i < count; i++) {
        values[i] = md_unpack_f64(in);
        in->bad = in->bad || !isfinite(values[i]);
    }
    return values;
}

/* One output for each label, or one alone: a number, or the second of two labels. */
static bool outputs_fit(const medley_model *model)
{
    const size_t labels = model->labels.count;
    if (model->task->section != NULL && model->task->bind == NULL) /* which has what scores */
        return model->outputs == 1;
    if (model->outputs == labels && labels > 0)
        return true;
    return model->outputs == 1 && labels != 1 && labels <= 2 && model->link == MD_LINK_SOFTMAX;
}

static void unpack_outputs(medley_model *model, md_unpack *in)
{
    model->outputs = md_unpack_u64(in);
    const uint64_t link = md_unpack_u64(in);
    const size_t biases = md_unpack_count(in, sizeof(double));
    if (in->bad || link >= MD_LINKS || (biases != 0 && biases != model->outputs)) {
        in->bad = true;
        return;
    }
    model->link = (md_probability_link)link;
    in->bad = !outputs_fit(model);
    if (biases > 0)
        model->bias = md_unpack_doubles(in, biases);
}

static void unpack_body(md_body *body, size_t outputs, md_unpack *in, uint64_t version)
{
    const size_t rows = md_unpack_u64(in);
    const uint64_t kind = version > 2 ? md_unpack_u64(in) : 0;
    const bool is_float64 = kind != 0;
    body->exact = kind == EXACT;
    const size_t size = is_float64 ? sizeof(double) : sizeof(float);
    if (in->bad || kind > EXACT || rows > (in->length - in->position) / size / outputs) {
        in->bad = true;
        return;
    }
    body->rows = rows;
    if (!is_float64) {
        body->values = md_unpack_floats(in, rows * outputs);
        return;
    }
    body->float64 = md_unpack_doubles(in, rows * outputs);
    if (!in->bad && md_body_round(body, outputs) != 0)
        in->bad = in->no_memory = true;
}

/* A term's body has as many rows as its kernel needs. */
static bool term_fits(const medley_model *model, const md_term *term)
{
    if (term->kernel >= model->bank.count || term->body >= model->body_count)
        return false;
    const md_kernel *kernel = &model->bank.kernels[term->kernel];
    if (model->bodies[term->body].exact && (md_kernel_has_weights(kernel) || term->factor != 1))
        return false;
    const size_t expected = md_kernel_has_weights(kernel)
                                ? model->bank.views[kernel->view].column_count
                                : model->support_count;
    return model->bodies[term->body].rows == expected;
}

static medley_status unpack_terms(medley_model *model, md_unpack *in, medley_error *error)
{
    const size_t count = md_unpack_count(in, 24);
    MEDLEY_TRY(md_new(&model->terms, count, sizeof *model->terms, error));
    model->term_count = count;
    for (size_t t = 0; t < count; t++) {
        md_term *term = &model->terms[t];
        term->kernel = md_unpack_u64(in);
        term->body = md_unpack_u64(in);
        term->factor = md_unpack_f64(in);
        in->bad = in->bad || !isfinite(term->factor) || !term_fits(model, term);
    }
    return MEDLEY_OK;
}

medley_status md_bodies_unpack(medley_model *model, md_unpack *in, uint64_t version,
                               medley_error *error)
{
    model->outputs = model->labels.count; /* as it was before there was a choice */
    if (version > 2)
        unpack_outputs(model, in);
    const size_t count = md_unpack_count(in, 8);
    MEDLEY_TRY(md_new(&model->bodies, count, sizeof *model->bodies, error));
    model->body_count = count;
    for (size_t b = 0; b < count && !in->bad; b++)
        unpack_body(&model->bodies[b], model->outputs, in, version);
    return in->bad ? MEDLEY_OK : unpack_terms(model, in, error);
}
