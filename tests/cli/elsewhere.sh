#!/usr/bin/env bash
# Files for other people's machines say what the project itself says: Dockerfile, conda recipe, workflow, CITATION.cff.
source "$(dirname "$0")/lib.sh"
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "files for other machines" "they do not depend on the build"
    exit 0
fi
cd "$(dirname "$0")/../.." || exit 1

# ---- Dockerfile ----
tr -d '\\\n' <Dockerfile | sed 's/FROM/\n&/g' >"$work/stages"
sed -n '/^    build)$/,/;;/s/.*\(need\|want\) \([^ ]*\) .*/\2/p' scripts/deps | sort -u >"$work/packages"
check "scripts/deps names packages" test "$(wc -l <"$work/packages")" -ge 6
while read -r package; do
    expect_text "the Dockerfile installs $package" "^FROM debian:12 AS build.* $package " "$work/stages"
done <"$work/packages"
expect_text "the image runs the command" 'ENTRYPOINT \["medley"\]' Dockerfile

# ---- workflow ----
expect_text "the workflow runs what decides" 'run: \.ci/run$' .github/workflows/ci.yml

# ---- conda, CITATION.cff: what is there twice is the same ----
sed -n 's/^dependencies = \[\(.*\)\]$/\1/p' pyproject.toml | tr -d '" ' | tr , '\n' >"$work/needs"
check "pyproject.toml names what the package needs" test -s "$work/needs"
while read -r need; do
    expect_text "the recipe needs $need" "^    - ${need/>=/ >=}$" packaging/conda/meta.yaml
done <"$work/needs"
refute_text "the recipe has no version of its own" '[^.0-9>=][0-9]+\.[0-9]+\.[0-9]+' packaging/conda/meta.yaml
refute_text "nor has CITATION.cff" '^version:' CITATION.cff
for title in 'Online Learning of Structured Predictors' 'SpicyMKL: a fast algorithm' 'Online-Batch Strongly Convex'; do
    expect_text "CITATION.cff has the paper: $title" "^    title: \"$title" CITATION.cff
    expect_text "README has it, too: $title" "\*$title" README.md
done
if ! ${PYTHON:-/usr/bin/python3} -c 'import yaml' 2>/dev/null; then
    skip "YAML" "there is no PyYAML (Debian: python3-yaml)"
    exit 0
fi
check "YAML is YAML, and CITATION.cff has what its format asks for" "${PYTHON:-/usr/bin/python3}" - <<'PY'
import yaml
jobs = yaml.safe_load(open(".github/workflows/ci.yml"))["jobs"]
assert all(job["steps"] and job["runs-on"] for job in jobs.values())
cited = yaml.safe_load(open("CITATION.cff"))
assert cited["cff-version"] == "1.2.0" and cited["message"] and cited["title"] and cited["authors"]
assert len(cited["references"]) == 3
for paper in cited["references"]:
    assert paper["type"] in ("article", "conference-paper") and paper["title"] and paper["year"]
    assert all(author["family-names"] for author in paper["authors"])
PY
