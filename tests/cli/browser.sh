#!/usr/bin/env bash
# Reports in a browser (tests/browser): Chromium without a window, driven by Selenium.
source "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-/usr/bin/python3}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "reports in a browser" "they are the same with sanitizers"
    exit 0
elif [ -z "$browser" ] || ! command -v chromedriver >/dev/null; then
    skip "reports in a browser" "chromium and chromedriver are not here (scripts/deps browser)"
    exit 0
elif ! "$python" -c 'import selenium.webdriver' 2>/dev/null; then
    skip "reports in a browser" "python3-selenium is not here (scripts/deps browser)"
    exit 0
fi
cd "$work" || exit 1
"$python" "$here/../browser/check_reports.py" "$MEDLEY" "$browser" || failures=1
