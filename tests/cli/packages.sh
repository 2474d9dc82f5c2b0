#!/usr/bin/env bash
# Debian's packages say of Medley what the sources say. That they work is shown by make check-deb, which takes its time.
source "$(dirname "$0")/lib.sh"
root=$(realpath "$(dirname "$0")/../..")
soversion=$(sed -n 's/.* SOVERSION \([0-9][0-9]*\).*/\1/p' "$root/CMakeLists.txt")
expect_text "the package of the library has its number" "^Package: libmedley$soversion$" "$root/debian/control"
check "and a list of files" test -s "$root/debian/libmedley$soversion.install"
sed -n '/^License: BSD/,$p' "$root/debian/copyright" | sed -n '/^ /{ s/^ //; s/^\.$//; p }' >"$work/licence"
check "the licence is the licence" diff "$work/licence" <(sed -n '/^Redistribution and/,$p' "$root/LICENSE")
expect_text "and the copyright the copyright" \
    "^Copyright: $(sed -n 's/^Copyright (c) //p' "$root/LICENSE")$" "$root/debian/copyright"

# ---- the number of the version, which is in CMakeLists.txt ----
version=$(sed -n 's/^project(medley VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
expect_text "the changelog begins with it" "^medley \\($version\\) " <(head -n 1 "$root/debian/changelog")
mkdir -p "$work/tree/scripts" "$work/tree/debian"
cp "$root/scripts/build-deb" "$work/tree/scripts/"
cp "$root/debian/changelog" "$work/tree/debian/"
echo 'project(medley VERSION 99.0)' >"$work/tree/CMakeLists.txt"
expect_exit 1 "a version without an entry is refused" "$work/tree/scripts/build-deb" "$work/packages"
expect_text "and named" 'changelog begins with .*, CMakeLists\.txt has 99\.0: add an entry' "$err"
check "before anything is built" test ! -e "$work/packages"
