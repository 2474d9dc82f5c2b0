#!/usr/bin/env bash
# scripts/release and scripts/next-version, in a repository of their own that has what they read; packing is a stub here
# (tests/cli/wheel.sh makes real wheels).
source "$(dirname "$0")/lib.sh"
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "releases" "they do not depend on the build"
    exit 0
elif ! command -v git >/dev/null 2>&1; then
    skip "releases" "there is no git"
    exit 0
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null HOME=$work
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export PYTHON=python # the stub below
mkdir -p "$work/repo" "$work/bin"
cd "$root" && cp --parents CMakeLists.txt .gitignore packaging/libmedley.* src/file/file.h \
    scripts/release scripts/next-version "$work/repo"
cd "$work/repo" || exit 1
touch Makefile # without the target deb
printf '# Changelog\n\n## [Unreleased]\n' >CHANGELOG.md
printf '#!/bin/sh\necho wheel >"$2/medley.whl"\n' >"$work/bin/python"
chmod +x "$work/bin/python"
export PATH=$work/bin:$PATH
git init -q && git add -A && git commit -qm first

version() { sed -i "s/^project(medley VERSION [0-9.]*/project(medley VERSION $1/" CMakeLists.txt; }
changes() { # changes VERSION: a section for it
    sed -i "s/^## \[Unreleased\]$/&\n\n## [$1] - 2026-01-02\n\n### Added\n\n- Something in $1./" CHANGELOG.md
}
commit() { git commit -q --allow-empty -am "${1-change}"; }
refused() { # refused NAME PATTERN [OPTION]
    expect_exit 1 "$1 is refused" scripts/release ${3+"$3"}
    expect_text "$1: says why" "$2" "$err"
}

# ---- what is refused ----
version 0.1.0
commit
refused "a version without its section in the changelog" "no section '## \[0\.1\.0\] - "
sed -i 's/^## \[Unreleased\]$/&\n\n## [0.1.0] - 2026-01-02\n\n## [0.0.9] - 2026-01-01\n\n- Old./' CHANGELOG.md
commit
refused "an empty section" "no section '## \[0\.1\.0\] - "
git reset -q --hard HEAD~1
changes 0.1.0
refused "a tree with changes" 'changes that are not committed'
commit
touch untracked
refused "a file that git does not know" 'changes that are not committed'
rm untracked
expect_exit 2 "an unknown option is refused" scripts/release --fast

# ---- a release ----
expect_exit 0 "a dry run" scripts/release --dry-run
expect_text "says that it is one" '^dry run: v0\.1\.0 is not made$' "$out"
check "a dry run makes no tag" test -z "$(git tag)"
check "it leaves the files" test -s build-release/0.1.0/medley.whl -a -s build-release/0.1.0/medley-0.1.0-source.tar.gz
check "checksums hold" sh -c 'cd build-release/0.1.0 && sha256sum -c SHA256SUMS'
first=$(sha256sum <build-release/0.1.0/medley-0.1.0-source.tar.gz)
expect_exit 0 "a release" scripts/release
check "the tag is that of the version" test "$(git tag)" = v0.1.0
git tag -l --format='%(contents)' v0.1.0 >"$work/told"
expect_text "the tag has the changes" '^- Something in 0\.1\.0\.$' "$work/told"
refute_text "and those of no other section" '^## ' "$work/told"
check "the same commit gives the same tarball" \
    test "$first" = "$(sha256sum <build-release/0.1.0/medley-0.1.0-source.tar.gz)"
refused "the same version again" 'the tag v0\.1\.0 exists'
printf 'deb:\n\tmkdir -p build-deb && echo deb >build-deb/medley.deb\n' >Makefile
commit
git tag -d v0.1.0 >/dev/null
expect_exit 0 "a release with Debian packages" scripts/release
check "has them" grep -q ' medley\.deb$' build-release/0.1.0/SHA256SUMS

# ---- which number is next ----
if ! command -v abidiff >/dev/null 2>&1; then
    skip "the next version" "there is no abidiff (Debian: abigail-tools)"
    exit 0
fi
judged() { # judged KIND LEAST NAME: the working tree against the last tag
    expect_exit 0 "next-version: $3" scripts/next-version
    expect_text "$3: a $1 change" "^$1 change since v[0-9.]*: the next version is ${2//./\\.} or more$" "$out"
}
again() { git checkout -q -- .; }
released() { # released VERSION: as if the last one were that
    git tag -a "v$1" -m "$1" && git tag -d "$2" >/dev/null
}
judged patch 0.1.1 "nothing has changed"
echo medley_zzz >>packaging/libmedley.symbols
judged minor 0.1.1 "a function more, before 1.0"
sed -i 2d packaging/libmedley.symbols
judged major 0.2.0 "a function less, before 1.0"
again
released 1.2.3 v0.1.0
judged patch 1.2.4 "nothing has changed after 1.0"
echo medley_zzz >>packaging/libmedley.symbols
judged minor 1.3.0 "a function more"
expect_exit 1 "a version that is too small" scripts/next-version 1.2.9
expect_exit 0 "one that is enough" scripts/next-version 1.3.0
expect_exit 0 "and one that is more than enough" scripts/next-version 1.10.0
version 1.2.9 && changes 1.2.9 && commit
refused "a release with too small a number" '1\.2\.9 is less than 1\.3\.0'
git reset -q --hard HEAD~1
sed -i 's/MD_FILE_VERSION = [0-9]*/MD_FILE_VERSION = 99/' src/file/file.h
judged minor 1.3.0 "a new format of model files"
sed -i 's/MD_FILE_OLDEST = [0-9]*/MD_FILE_OLDEST = 98/' src/file/file.h
judged major 2.0.0 "old model files are not read"
again
sed -i 's/ SOVERSION [0-9]*/ SOVERSION 77/' CMakeLists.txt
judged major 2.0.0 "another SOVERSION"
again
# every type of 64 bits has 128 now
sed -i "s/size-in-bits='64' id='\(type-id-[0-9]*\)'\/>/size-in-bits='128' id='\1'\/>/" packaging/libmedley.abi
judged major 2.0.0 "other types behind the same names"
