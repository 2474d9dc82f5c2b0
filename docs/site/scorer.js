// SPDX-License-Identifier: BSD-3-Clause
// What the search shows first: pages that answer before those that record. The other numbers are Sphinx's own.
var Scorer = {
    score: ([page, , , , score]) => {
        const first = [["docs/faq", 8], ["docs/glossary", 6], ["docs/guides/", 4], ["command/", 2], ["python/", 2], ["c/", 2],
            ["docs/", 0], ["README", 0]].find(([start]) => page.startsWith(start));
        return score + (first ? first[1] : -4);
    },
    objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
    title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
