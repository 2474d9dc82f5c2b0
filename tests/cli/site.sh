#!/usr/bin/env bash
# The documents' site (docs/site): it builds without warnings, its links lead somewhere, and its search finds what people ask.
source "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-/usr/bin/python3}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
export PYTHONDONTWRITEBYTECODE=1
if [[ $MEDLEY_BUILD == *san* ]]; then
    skip "the site" "it is the same with sanitizers"
    exit 0
elif ! "$python" -c 'import breathe, myst_parser, numpydoc, sklearn, sphinx' 2>/dev/null ||
    ! command -v doxygen >/dev/null; then
    skip "the site" "Sphinx, myst-parser, numpydoc, Breathe, Doxygen or scikit-learn are not here (scripts/deps docs)"
    exit 0
fi

# ---- the link checker finds what is wrong ----
mkdir "$work/wrong"
echo '<p id="here"><a href="#here">a</a><a href="b.html">b</a></p>' >"$work/wrong/a.html"
echo '<a href="a.html#nowhere">a</a><script src="https://example.org/x.js"></script>' >"$work/wrong/b.html"
links() { "$python" -c 'import pathlib, sys; sys.path.insert(0, sys.argv[1]); import links
print("\n".join(links.broken(pathlib.Path(sys.argv[2]))))' "$root/docs/site" "$1"; }
links "$work/wrong" >"$work/found"
expect_text "an anchor that is not there is found" '^b.html: a.html#nowhere$' "$work/found"
expect_text "and a script from elsewhere" '^b.html: script loads https' "$work/found"
check "and nothing else" test "$(wc -l <"$work/found")" -eq 2

# ---- ours ----
check "the site is built without warnings" "$python" "$root/docs/site/build.py" --quick \
    --build "$MEDLEY_BUILD" --output "$work/site" || exit
html=$work/site/html
expect_text "an option has an anchor" 'id="cmdoption-medley-train-C"' "$html/command/train.html"
expect_text "a function of C has its comment" 'Trains a model on labelled data' "$html/c/model.html"
expect_text "a class of Python has its parameters" '<strong>kernels</strong>' "$html/python/MKLClassifier.html"
check "no report of the gallery is missing" test "$(ls "$html/gallery" | wc -l)" -ge 4
if [ -z "$browser" ] || ! command -v chromedriver >/dev/null || ! "$python" -c 'import selenium.webdriver' 2>/dev/null; then
    skip "the site in a browser" "chromium, chromedriver or python3-selenium are not here (scripts/deps browser)"
    exit 0
fi
"$python" "$root/tests/browser/check_site.py" "$html" "$browser" || failures=1
