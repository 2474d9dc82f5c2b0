/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in template sets: one row each. */
#include "feature/feature.h"

/* Two columns: word and part of speech. */
static const char chunk[] = "U00:%x[-2,0]\n"
                            "U01:%x[-1,0]\n"
                            "U02:%x[0,0]\n"
                            "U03:%x[1,0]\n"
                            "U04:%x[2,0]\n"
                            "U05:%x[-1,0]/%x[0,0]\n"
                            "U06:%x[0,0]/%x[1,0]\n"
                            "U10:%x[-2,1]\n"
                            "U11:%x[-1,1]\n"
                            "U12:%x[0,1]\n"
                            "U13:%x[1,1]\n"
                            "U14:%x[2,1]\n"
                            "U15:%x[-2,1]/%x[-1,1]\n"
                            "U16:%x[-1,1]/%x[0,1]\n"
                            "U17:%x[0,1]/%x[1,1]\n"
                            "U18:%x[1,1]/%x[2,1]\n"
                            "U20:%x[-2,1]/%x[-1,1]/%x[0,1]\n"
                            "U21:%x[-1,1]/%x[0,1]/%x[1,1]\n"
                            "U22:%x[0,1]/%x[1,1]/%x[2,1]\n"
                            "B\n";

/* CoNLL-U: the form stands in column 1, behind the number of the word. */
static const char ud_pos[] = "U00:%x[-1,1]\n"
                             "U01:%x[0,1]\n"
                             "U02:%x[1,1]\n"
                             "U03:%X[0,1]\n"
                             "U04:%m[0,1,\".$\"]\n"
                             "U05:%m[0,1,\"..$\"]\n"
                             "U06:%m[0,1,\"...$\"]\n"
                             "U07:%m[0,1,\"^..\"]\n"
                             "U08:%m[0,1,\"^...\"]\n"
                             "U09:%t[0,1,\"^\\u\"]\n"
                             "U10:%t[0,1,\"\\d\"]\n"
                             "U11:%x[-1,1]/%x[0,1]\n"
                             "U12:%x[0,1]/%x[1,1]\n"
                             "U13:%m[-1,1,\"...$\"]\n"
                             "U14:%m[1,1,\"...$\"]\n"
                             "U15:%t[0,1,\"-\"]\n"
                             "B\n";

const md_template_set md_template_sets[] = {
    {"chunk", "CRF++'s usual chunking templates for a word and its part of speech", chunk},
    {"ud-pos", "parts of speech in CoNLL-U: words, their ends and beginnings, neighbours", ud_pos},
    {NULL, NULL, NULL}};
