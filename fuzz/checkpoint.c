/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints: the state of a run is changed here and there and gets a checksum that is right, so
 * that training goes on from it, or is refused. A byte chooses the run, then come the changes: what
 * kind, where (2 bytes) and what (8 bytes). So inputs are short, and of any machine. */
#include "fuzz.h"

#include "base/text.h"
#include <unistd.h>

static const struct run {
    fuzz_kind kind;
    const char *options;
    const char *template; /* NULL: none */
} runs[] = {
    {FUZZ_DENSE, "kernel=rbf(sigma2=1)\nkernel=poly(degree=2)\nmethod=spom\neta0=0.1\n", NULL},
    {FUZZ_DENSE, "kernel=linear\nkernel=bias\nmethod=spom\neta0=1\naverage=yes\nbatch=3\n", NULL},
    {FUZZ_DENSE, "kernel=rbf(sigma2=1)\nmethod=pegasos\n", NULL},
    {FUZZ_SPARSE, "method=spom\npenalty=elastic(t=0.5)\nloss=logistic\neta0=1\n", NULL},
    {FUZZ_WORDS, "eta0=1\n", "U:%x[0,0]\nU:%x[-1,1]/%x[0,1]\nB:%x[0,1]\nB\n"},
    {FUZZ_WORDS, "hash-bits=3\norder=2\npenalty=l1\neta0=1\n", "U:%x[0,0]\nU:%x[1,1]\n"},
    {FUZZ_NAMED, "bigram-ends=yes\neta0=1\n", NULL},
    {FUZZ_TREES, "task=tree\nhash-bits=5\n", "h.upos m.upos dist\nbetween.upos\nh.form\n"},
    {FUZZ_GRAM, "method=spom\neta0=1\n", NULL},
};
enum { RUNS = sizeof runs / sizeof *runs };

/* The file of a run that has come to its end, without the checksum. */
typedef struct state {
    uint8_t *bytes;
    size_t size;
} state;

enum { HEAD = 24, SUM = 8 };

static const char *path(void)
{
    static char name[64];
    if (name[0] == '\0')
        snprintf(name, sizeof name, "/dev/shm/medley-fuzz-%ld", (long)getpid());
    return name;
}

static void remove_file(void)
{
    unlink(path());
}

static medley_options *options_of(size_t which, const char *epochs, const char *resume)
{
    medley_error error;
    fuzz_input text = {(const uint8_t *)runs[which].options, strlen(runs[which].options)};
    medley_options *options = fuzz_options(&text);
    if (options == NULL)
        return NULL;
    const char *template = runs[which].template;
    const char *const settings[][2] = {
        {"epochs", epochs},
        {"checkpoint", path()},
        {"resume", resume},
        {"template", template != NULL ? fuzz_file(1, template, strlen(template)) : NULL}};
    for (size_t i = 0; i < (template != NULL ? 4 : 3); i++)
        if (!fuzz_worked(medley_options_set(options, settings[i][0], settings[i][1], &error),
                         &error)) {
            medley_options_free(options);
            return NULL;
        }
    return options;
}

/* Trains an epoch and keeps the checkpoint. */
static state make(size_t which)
{
    medley_model *model = NULL;
    medley_error error;
    medley_options *options = options_of(which, "1", "no");
    FUZZ_REQUIRE(options != NULL);
    fuzz_must(medley_fit(&model, fuzz_data(runs[which].kind), NULL, options, NULL, &error), &error);
    medley_model_free(model);
    medley_options_free(options);
    FILE *file = fopen(path(), "rb");
    FUZZ_REQUIRE(file != NULL && fseek(file, 0, SEEK_END) == 0);
    const size_t size = (size_t)ftell(file);
    state made = {fuzz_allocate(size), size - SUM};
    rewind(file);
    FUZZ_REQUIRE(size > HEAD + SUM && fread(made.bytes, 1, size, file) == size);
    fclose(file);
    return made;
}

static const state *find(size_t which)
{
    static state all[RUNS];
    if (all[which].bytes == NULL) {
        const fuzz_failing before = fuzz_pause();
        atexit(remove_file);
        all[which] = make(which);
        fuzz_resume(before);
    }
    return &all[which];
}

/* As src/online/checkpoint.c adds them up. */
static uint64_t sum_of(const uint8_t *bytes, size_t size)
{
    enum { CHUNK = 1 << 16 };
    uint64_t sum = 0;
    for (size_t at = 0; at < size; at += CHUNK) {
        const size_t piece = size - at < CHUNK ? size - at : CHUNK;
        sum = (sum ^ md_hash_bytes(bytes + at, piece)) * 0x9e3779b97f4a7c15U;
    }
    return sum;
}

/* One change of the state; returns its new size. */
static size_t change(uint8_t *bytes, size_t size, fuzz_input *input)
{
    static const size_t widths[] = {8, 4, 1};
    uint8_t value[8];
    const unsigned kind = fuzz_byte(input) % 8;
    const size_t place = fuzz_byte(input) + 256U * fuzz_byte(input);
    for (size_t i = 0; i < sizeof value; i++)
        value[i] = fuzz_byte(input);
    if (size == 0 || kind == 7)
        return size == 0 ? 0 : place % size;
    const size_t width = widths[kind % 3];
    const size_t units = size / width;
    if (units > 0)
        memcpy(bytes + place % units * width, value, width);
    return size;
}

static void write_checkpoint(const uint8_t *bytes, size_t size)
{
    const uint64_t sum = sum_of(bytes, size);
    FILE *file = fopen(path(), "wb");
    FUZZ_REQUIRE(file != NULL && fwrite(bytes, 1, size, file) == size &&
                 fwrite(&sum, 1, sizeof sum, file) == sizeof sum && fclose(file) == 0);
}

void fuzz_checkpoint(fuzz_input input)
{
    const size_t which = fuzz_byte(&input) % RUNS;
    const state *made = find(which);
    uint8_t *bytes = fuzz_allocate(made->size);
    size_t size = made->size - HEAD;
    memcpy(bytes, made->bytes, made->size);
    while (input.size > 0)
        size = change(bytes + HEAD, size, &input);
    write_checkpoint(bytes, HEAD + size);
    free(bytes);
    medley_model *model = NULL;
    medley_error error;
    medley_options *options = options_of(which, "2", "yes");
    const medley_dataset *data = fuzz_data(runs[which].kind);
    if (options != NULL &&
        fuzz_worked(medley_fit(&model, data, NULL, options, NULL, &error), &error))
        fuzz_predict(model, data);
    medley_model_free(model);
    medley_options_free(options);
}
