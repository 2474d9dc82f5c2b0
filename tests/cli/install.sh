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

# ---- the examples ----
cp -r "$(dirname "$0")/../../examples" "$work/examples"
cd "$work/examples" || exit 1
examples=0
example() { # example NAME PATTERN...: compiles without a warning, runs, and prints lines like these
    local name=$1 pattern
    shift
    examples=$((examples + 1))
    # shellcheck disable=SC2046
    check "example $name compiles" "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -o "$name" "$name.c" \
        $(pkg-config --cflags --libs medley) || return
    expect_exit 0 "example $name runs" "./$name" || return
    for pattern in "$@"; do
        expect_text "example $name prints what it should" "$pattern" "$out"
    done
    check "example $name has nothing to complain of" test ! -s "$err"
}
example rows '^kernel rbf.* weight 0\.[0-9]' '^accuracy 0\.[89]' '^row 3: label [012]$'
check "example rows leaves its model" "$prefix/bin/medley" inspect wave.medley
mkdir -p elsewhere/train.csv
expect_exit 1 "an example that cannot write its file ends well" bash -c 'cd elsewhere && ../rows'
expect_text "and says why" '^rows: .*train\.csv' "$err"
example own_kernels '^kernel 5-letters +weight (0\.[5-9]|1\.)' '^accuracy (0\.[89]|1\.0).* on 80 new texts$'
example sequences '^training [0-9]+ of [0-9]+: .*held-out accuracy 0\.' '^good enough after [0-9]+ ' \
    '^[^ ]+.[A-Z]+.B-NP$'
example pieces '^ 300 rows seen, .*accuracy 0\.[78]' '^1800 rows seen, .*accuracy 0\.8' '^saved in '
example choose '^penalty .* \(best\)$' '^lambda .* kernels, accuracy 0\.' '^everything .* choose.html$'
check "example choose leaves its report" grep -q '</html>' choose.html
example segments '^40 signals: 9[0-9]\.. % of the candidates right, [4-9]'
example matching '^60 pairs of pictures, 9[0-9]\.. % matched'
expect_exit 2 "the command refuses a model that needs a structure" "$prefix/bin/medley" inspect segments.medley
expect_text "and names it" "needs the structure 'segments'" "$err"
check "every example is tested" test "$(find . -name '*.c' | wc -l)" -eq "$examples"
check "the examples' Makefile makes them all" make --silent --always-make CC="${CC:-cc}" \
    CFLAGS='-O1 -Wall -Wextra -Werror' MAKEFLAGS=
