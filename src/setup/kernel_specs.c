/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of a run as strings: those given one by one, and those of files with one a line. */
#include "setup/setup.h"

/* Is it a spec of a kernel that exists? Here the line is known; options are checked later. */
static medley_status check_spec(const char *text, medley_error *error)
{
    MD_OWNED(md_texts_free) char **expanded = NULL;
    MD_CLEARED(md_spec_clear) md_spec spec = {0};
    MEDLEY_TRY(md_spec_expand(&expanded, text, error));
    MEDLEY_TRY(md_spec_parse(&spec, expanded[0], error));
    if (md_kernel_find(spec.name) == NULL)
        return md_fail_unlisted("kernel", "kernels", spec.name, error);
    return MEDLEY_OK;
}

struct spec_file {
    char ***specs;
    const char *path;
};

static medley_status add_spec(void *context, char *text, size_t line, medley_error *error)
{
    const struct spec_file *file = context;
    medley_error inner = {0};
    const medley_status status = check_spec(text, &inner);
    if (status < 0)
        return md_fail_at(error, status == MEDLEY_USAGE ? MEDLEY_BAD_INPUT : status, file->path,
                          line, "%s", inner.message);
    return md_texts_add(file->specs, text, error);
}

static medley_status read_spec_file(char ***specs, const char *path, medley_error *error)
{
    struct spec_file file = {specs, path};
    const size_t before = md_texts_count(*specs);
    MEDLEY_TRY(md_read_lines(path, "`kernels` takes a file with one kernel a line", add_spec, &file,
                             error));
    if (md_texts_count(*specs) == before)
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, 0,
                          "there are no kernels in this file; write one a line, such as "
                          "rbf(sigma=2)");
    return MEDLEY_OK;
}

medley_status md_options_kernels(char ***specs, const medley_options *options, medley_error *error)
{
    MD_OWNED(md_texts_free) char **list = NULL;
    for (size_t i = 0; options->kernels != NULL && options->kernels[i] != NULL; i++)
        MEDLEY_TRY(md_texts_add(&list, options->kernels[i], error));
    for (size_t i = 0; options->kernel_files != NULL && options->kernel_files[i] != NULL; i++)
        MEDLEY_TRY(read_spec_file(&list, options->kernel_files[i], error));
    *specs = md_take(&list);
    return MEDLEY_OK;
}
