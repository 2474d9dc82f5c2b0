#!/usr/bin/env bash
# What `make install` lays down works for somebody else: a C program through pkg-config.
source "$(dirname "$0")/lib.sh"
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "installation" "a sanitized library is not for installing"
    exit 0
fi
prefix=$work/usr
check "installs" cmake --install "$MEDLEY_BUILD" --prefix "$prefix"
check "the command runs from there" "$prefix/bin/medley" --version
check "manual pages are there" test -s "$prefix/share/man/man1/medley-train.1"
check "completion is there" test -s "$prefix/share/bash-completion/completions/medley"
if ! command -v pkg-config >/dev/null 2>&1; then
    skip "pkg-config" "it is not installed"
    exit 0
fi
cat >"$work/user.c" <<'C'
#include <medley/medley.h>
#include <stdio.h>
int main(void)
{
    medley_error error = {0};
    medley_dataset *data = NULL;
    medley_model *model = NULL;
    medley_generate_options how = MEDLEY_GENERATE_OPTIONS_INIT;
    how.rows = 100;
    if (medley_generate(&data, "waveform", &how, &error) < 0 ||
        medley_fit(&model, data, NULL, NULL, NULL, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%zu labels\n", medley_model_label_count(model));
    medley_model_free(model);
    medley_dataset_free(data);
    return 0;
}
C
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name medley.pc)")
# shellcheck disable=SC2046
check "a program compiles against it" "${CC:-cc}" -std=c11 -o "$work/user" "$work/user.c" \
    $(pkg-config --cflags --libs medley)
expect_exit 0 "and runs" "$work/user"
expect_text "and learns" '^3 labels$' "$out"
