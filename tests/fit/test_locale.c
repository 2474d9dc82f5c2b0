/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose locale writes a comma for the decimal point gets the same models, labels and
 * files as any other. */
#include "fit/fitting.h"

#include <locale.h>
#include <sys/stat.h>

/* A locale that writes 1,5: one that is installed, or one made for this test; false: neither. */
static bool choose_comma(char folder[PATH_SIZE])
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR", NULL};
    static const char source[] = "LC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep "
                                 "\"<U002E>\"\ngrouping 3;3\nEND LC_NUMERIC\n";
    char path[PATH_SIZE + 32];
    char command[4 * PATH_SIZE];
    for (size_t i = 0; names[i] != NULL; i++)
        if (setlocale(LC_NUMERIC, names[i]) != NULL)
            return true;
    snprintf(path, sizeof path, "%s/source", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    fclose(file);
    snprintf(command, sizeof command,
             "localedef --no-archive -c -i %s %s/comma >/dev/null 2>&1 || test -d %s/comma", path,
             folder, folder);
    return system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
           setlocale(LC_NUMERIC, "comma") != NULL;
}

static void remove_folder(const char *folder)
{
    char command[PATH_SIZE + 16];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

static const char *const runs[] = {
    "method=spicy kernel=rbf(auto) kernel=poly", "method=spom kernel=rbf(auto) epochs=3",
    "method=obscure kernel=rbf(auto) kernel=linear p=1.5 epochs1=2 epochs2=2",
    "task=regression kernel=rbf(sigma=0.5) penalty=elastic(t=0.5)",
    "method=spicy kernel=rbf(auto) penalty=block(q=1.5) gap=1e-4"};
enum { RUNS = sizeof runs / sizeof *runs };

static medley_dataset *read_numbers(void)
{
    static const char text[] = "a,b,y\n1.25,2.5,0.5\n2.75,1.5,1.5\n3.5,4.25,0.5\n4.5,3.125,1.5\n"
                               "1.5,1.5,0.5\n2.25,2.625,1.5\n1e-30,2.5,0.5\n3.3333,1.1,1.5\n";
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    if (medley_dataset_parse(&dataset, text, sizeof text - 1, "numbers.csv", &options, &error) < 0)
        fail_msg("%s", error.message);
    return dataset;
}

/* What a run gives: the bytes of its model, its data as CSV, a message. */
struct outcome {
    char *model;
    size_t size;
    char text[2000];
};

static struct outcome run(const char *options)
{
    struct outcome outcome;
    medley_error error = {0};
    medley_dataset *data = read_numbers();
    medley_model *model = fit(data, NULL, options);
    outcome.model = model_bytes(model, &outcome.size);
    medley_prediction *prediction = predict(model, data);
    const medley_summary *summary = medley_model_summary(model);
    medley_dataset *kept = NULL;
    medley_dataset *held_out = NULL;
    assert_true(medley_dataset_split(&kept, &held_out, data, 1.5, 1, &error) < 0);
    snprintf(outcome.text, sizeof outcome.text, "%s %s %s %s", summary->blocks[0].name,
             summary->penalty, error.message,
             prediction->value == NULL ? medley_model_label_name(model, 0) : "");
    medley_prediction_free(prediction);
    medley_model_free(model);
    medley_dataset_free(data);
    return outcome;
}

static void a_comma_of_the_program_changes_nothing(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    struct outcome expected[RUNS];
    temporary_path(folder);
    unlink(folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (size_t r = 0; r < RUNS; r++)
        expected[r] = run(runs[r]);
    const bool chosen = choose_comma(folder);
    char text[16];
    snprintf(text, sizeof text, "%.1f", 1.5);
    for (size_t r = 0; r < RUNS; r++) {
        if (chosen) {
            assert_string_equal(text, "1,5");
            struct outcome found = run(runs[r]);
            assert_string_equal(found.text, expected[r].text);
            assert_int_equal(found.size, expected[r].size);
            assert_memory_equal(found.model, expected[r].model, found.size);
            free(found.model);
        }
        free(expected[r].model);
    }
    setlocale(LC_NUMERIC, "C");
    remove_folder(folder);
    if (!chosen) {
        print_message("there is no locale with a comma here, and none can be made\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_comma_of_the_program_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
