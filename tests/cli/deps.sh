#!/usr/bin/env bash
# scripts/deps asks apt for what is missing: tried with a compiler, an apt and a sudo of paper.
source "$(dirname "$0")/lib.sh"
mkdir -p "$work/scripts" "$work/bin" "$work/usr"
cp "$(dirname "$0")/../../scripts/deps" "$work/scripts/deps"
cd "$work" || exit 1
stub() { # stub NAME: its script is standard input
    { echo '#!/bin/sh' && cat; } >"bin/$1"
    chmod +x "bin/$1"
}
stub cmake </dev/null
stub id <<<'echo 1000'
stub sudo <<<'echo "$*" >>used; exec "$@"'
stub apt-get <<<'echo "$*" >>asked; [ ! -e offline ]'
stub cc <<'SH' # knows the headers and libraries in usr
case $1 in
-print-file-name=*) ls "usr/${1#*=}" 2>/dev/null || echo "${1#*=}" ;;
-E) read -r _ name && name=${name%>} && test -e "usr/$(basename "${name#<}")" ;;
esac
SH
export PATH=$work/bin:$PATH CC=cc
deps() { # deps FILE...: with these in usr
    rm -rf usr asked used build
    mkdir usr && touch asked used "${@/#/usr/}"
    scripts/deps $yes build
}
yes=--yes
needed=(stdio.h cblas.h zlib.h)

expect_exit 0 "everything is there" deps "${needed[@]}" libopenblas.so svm.h Clp_C_Interface.h libdeflate.h
check "nothing is asked for or said" test ! -s asked -a ! -s "$out" -a ! -s "$err"
expect_exit 0 "another fast BLAS will do" deps "${needed[@]}" libmkl_rt.so svm.h Clp_C_Interface.h libdeflate.h
check "nothing is asked for" test ! -s asked
expect_exit 0 "there is only the reference BLAS" deps "${needed[@]}" svm.h Clp_C_Interface.h libdeflate.h
expect_text "OpenBLAS is asked for" '^install .* libopenblas-dev$' asked
expect_exit 0 "what is optional is missing" deps "${needed[@]}" libopenblas.so
expect_text "LIBSVM is asked for" '^install .* libsvm-dev$' asked
expect_text "Clp is asked for" '^install .* coinor-libclp-dev$' asked
expect_text "libdeflate is asked for" '^install .* libdeflate-dev$' asked
refute_text "nothing else is" 'openblas|zlib' asked
rm asked
expect_exit 0 "deps again" scripts/deps build
check "asks no more and is silent" test ! -e asked -a ! -s "$out" -a ! -s "$err"
expect_exit 0 "something is needed" deps stdio.h cblas.h
expect_text "it is asked for" '^install .* zlib1g-dev$' asked
touch offline
expect_exit 0 "without network, what is needed being there" deps "${needed[@]}"
expect_text "what is optional is named" '^libopenblas-dev is optional and could not be installed' "$out"
expect_exit 1 "without network, something needed" deps stdio.h cblas.h
rm offline

# ---- sudo is not used unasked ----
yes=
expect_exit 1 "somebody who is not root, without a terminal" deps stdio.h cblas.h
check "has nothing installed" test ! -s asked -a ! -s used
expect_text "and is told what is needed" 'needs .*zlib1g-dev' "$err"
expect_text "and how it is installed" 'scripts/deps --yes build$' "$err"
expect_exit 0 "where only what is optional is missing" deps "${needed[@]}" libopenblas.so
check "nothing is installed" test ! -s asked -a ! -s used
expect_text "and it is named" 'libsvm-dev coinor-libclp-dev libdeflate-dev' "$out"
expect_exit 0 "who insists later" scripts/deps --yes build
expect_text "gets it" '^install .* libsvm-dev$' asked
if command -v script >/dev/null 2>&1; then # of util-linux: gives a terminal
    answer() { # answer WORD
        rm -rf build asked used
        touch asked used
        rm -f usr/zlib.h
        echo "$1" | script -qec 'scripts/deps build' /dev/null
    }
    expect_exit 1 "no, says somebody at a terminal" answer n
    expect_text "after being asked" 'May they be installed with sudo' "$out"
    check "and nothing is installed" test ! -s asked -a ! -s used
    expect_exit 0 "yes, says another" answer y
    expect_text "and it is installed by sudo" '^apt-get install .* zlib1g-dev' used
else
    skip "sudo at a terminal" "there is no script (Debian: bsdutils)"
fi
stub id <<<'echo 0'
expect_exit 0 "root, without a terminal" deps stdio.h cblas.h
expect_text "is not asked" '^install .* zlib1g-dev$' asked
check "and needs no sudo" test ! -s used
