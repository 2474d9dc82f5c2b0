/* SPDX-License-Identifier: BSD-3-Clause */
/* The lexicon. Many words belong to several classes, as in English: nouns that are verbs (walk,
 * plan, watch), adjectives that are nouns or verbs (light, open), adverbs that are adjectives
 * (fast), prepositions that are particles (up, out) or that begin clauses (before, since). */
#include "generate/gen_grammar.h"

/* clang-format off */
static const char *const nouns[] = {
    "man men", "woman women", "dog dogs", "house houses", "child children", "book books",
    "city cities", "plan plans", "friend friends", "teacher teachers", "garden gardens", "car cars",
    "letter letters", "walk walks", "river rivers", "story stories", "cat cats", "window windows",
    "street streets", "farmer farmers", "watch watches", "table tables", "student students",
    "bridge bridges", "show shows", "door doors", "king kings", "tree trees", "doctor doctors",
    "ship ships", "song songs", "horse horses", "park parks", "cook cooks", "bird birds",
    "train trains", "tower towers", "guard guards", "telescope telescopes", "island islands",
    "call calls", "engineer engineers", "hill hills", "play plays", "picture pictures",
    "market markets", "dance dances", "village villages", "judge judges", "question questions",
    "boat boats", "answer answers", "box boxes", "machine machines", "light lights",
    "soldier soldiers", "visit visits", "painter painters", "road roads", "mark marks",
    "kitchen kitchens", "knife knives", "drink drinks", "neighbour neighbours",
    "mountain mountains", "help helps", "sailor sailors", "shop shops",
};
/* clang-format on */
static const char *const substances[] = {"water", "music", "light", "paper", "work",  "snow",
                                         "money", "bread", "time",  "glass", "paint", "iron"};
static const char *const names[] = {"Anna",  "Peter",  "London", "Maria", "Paris", "Thomas",
                                    "Clara", "Berlin", "Smith",  "Rose",  "Mark",  "Victor",
                                    "Rome",  "Julia",  "Brown",  "Oslo",  "May",   "Edward"};
static const char *const adjectives[] = {
    "old",   "young",  "small",  "big",   "new",     "red",    "good",    "dark",  "happy",
    "quiet", "strong", "light",  "cold",  "open",    "famous", "green",   "empty", "clean",
    "long",  "late",   "rich",   "fast",  "strange", "early",  "hard",    "dry",   "wooden",
    "blue",  "heavy",  "broken", "tired", "clever",  "deep",   "present", "local", "honest"};
/* clang-format off */
static const char *const intransitive[] = {
    "walk walks walked walked walking", "sleep sleeps slept slept sleeping",
    "work works worked worked working", "wait waits waited waited waiting",
    "sing sings sang sung singing", "play plays played played playing", "run runs ran run running",
    "dance dances danced danced dancing", "smile smiles smiled smiled smiling",
    "cook cooks cooked cooked cooking", "live lives lived lived living",
    "fall falls fell fallen falling", "travel travels travelled travelled travelling",
    "rest rests rested rested resting",
};
static const char *const transitive[] = {
    "see sees saw seen seeing", "watch watches watched watched watching",
    "find finds found found finding", "paint paints painted painted painting",
    "help helps helped helped helping", "visit visits visited visited visiting",
    "follow follows followed followed following", "call calls called called calling",
    "build builds built built building", "mark marks marked marked marking",
    "open opens opened opened opening", "love loves loved loved loving",
    "clean cleans cleaned cleaned cleaning", "guard guards guarded guarded guarding",
    "plan plans planned planned planning", "know knows knew known knowing",
    "cook cooks cooked cooked cooking", "question questions questioned questioned questioning",
    "drink drinks drank drunk drinking", "light lights lit lit lighting",
    "book books booked booked booking", "judge judges judged judged judging",
    "carry carries carried carried carrying", "like likes liked liked liking",
};
/* clang-format on */
static const char *const ditransitive[] = {
    "give gives gave given giving", "show shows showed shown showing",
    "send sends sent sent sending", "tell tells told told telling",
    "bring brings brought brought bringing"};
static const char *const saying[] = {
    "say says said said saying", "think thinks thought thought thinking",
    "know knows knew known knowing", "hope hopes hoped hoped hoping",
    "believe believes believed believed believing"};
static const char *const wanting[] = {
    "want wants wanted wanted wanting", "try tries tried tried trying",
    "hope hopes hoped hoped hoping", "plan plans planned planned planning",
    "begin begins began begun beginning"};
static const char *const phrasal[] = {
    "pick picks picked picked picking", "look looks looked looked looking",
    "call calls called called calling", "bring brings brought brought bringing",
    "turn turns turned turned turning", "put puts put put putting"};
static const char *const be[] = {"be is are was were been being"};
static const char *const have[] = {"have has had had having"};
static const char *const do_[] = {"do does did done doing"};
static const char *const modals[] = {"will", "can", "must", "may", "should", "could"};
static const char *const not_[] = {"not"};
static const char *const to[] = {"to"};
static const char *const this_[] = {"the", "a", "this", "every", "that", "another"};
static const char *const these[] = {"the", "these", "some", "all", "many", "those"};
static const char *const he[] = {"he", "she", "it"};
static const char *const they[] = {"they", "we"};
static const char *const him[] = {"him", "her", "it", "them", "us"};
static const char *const his[] = {"his", "her", "their", "our", "its"};
static const char *const who[] = {"who", "that", "which"};
static const char *const that[] = {"that"};
static const char *const numbers[] = {"two", "three", "four", "five", "ten", "twenty"};
static const char *const verb_prepositions[] = {"in",    "with",   "on",     "at",    "to",
                                                "after", "during", "into",   "from",  "before",
                                                "near",  "for",    "across", "since", "up"};
static const char *const noun_prepositions[] = {"of",   "with", "in",    "on",     "from",
                                                "near", "for",  "about", "between"};
static const char *const by[] = {"by"};
static const char *const particles[] = {"up", "out", "on", "in", "back"};
static const char *const manner[] = {"quickly", "slowly", "well",  "often", "quietly",
                                     "hard",    "fast",   "early", "badly", "late"};
static const char *const time_[] = {"today", "yesterday", "now",  "then",
                                    "here",  "there",     "soon", "again"};
static const char *const very[] = {"very", "too", "quite", "rather"};
static const char *const and_[] = {"and", "or"};
static const char *const but[] = {"and", "but", "or"};
static const char *const conjunctions[] = {"because", "when",  "if",   "while",
                                           "before",  "since", "after"};
static const char *const comma[] = {","};
static const char *const stop[] = {".", ".", "!"};

#define WORDS(list) (list), sizeof(list) / sizeof *(list)
#define NOMINATIVE  "Case=Nom|PronType=Prs"
#define ACCUSATIVE  "Case=Acc|PronType=Prs"

const md_word_class md_word_classes[] = {
    {"Noun", "NOUN", NULL, "NP", NULL, MD_WORD_NOUN, WORDS(nouns)},
    {"Substance", "NOUN", "NN", "NP", "Number=Sing", MD_WORD_PLAIN, WORDS(substances)},
    {"Name", "PROPN", "NNP", "NP", "Number=Sing", MD_WORD_NAME, WORDS(names)},
    {"Adjective", "ADJ", "JJ", "ADJP", "Degree=Pos", MD_WORD_PLAIN, WORDS(adjectives)},
    {"Vi", "VERB", NULL, "VP", NULL, MD_WORD_VERB, WORDS(intransitive)},
    {"Vt", "VERB", NULL, "VP", NULL, MD_WORD_VERB, WORDS(transitive)},
    {"Vd", "VERB", NULL, "VP", NULL, MD_WORD_VERB, WORDS(ditransitive)},
    {"Vs", "VERB", NULL, "VP", NULL, MD_WORD_VERB, WORDS(saying)},
    {"Vw", "VERB", NULL, "VP", NULL, MD_WORD_VERB, WORDS(wanting)},
    {"Vp", "VERB", NULL, "VP", NULL, MD_WORD_VERB, WORDS(phrasal)},
    {"Be", "AUX", NULL, "VP", NULL, MD_WORD_VERB, WORDS(be)},
    {"Have", "AUX", NULL, "VP", NULL, MD_WORD_VERB, WORDS(have)},
    {"Do", "AUX", NULL, "VP", NULL, MD_WORD_VERB, WORDS(do_)},
    {"Modal", "AUX", "MD", "VP", "VerbForm=Fin", MD_WORD_PLAIN, WORDS(modals)},
    {"Not", "PART", "RB", "VP", "Polarity=Neg", MD_WORD_PLAIN, WORDS(not_)},
    {"To", "PART", "TO", "VP", "_", MD_WORD_PLAIN, WORDS(to)},
    {"This", "DET", "DT", "NP", "_", MD_WORD_PLAIN, WORDS(this_)},
    {"These", "DET", "DT", "NP", "Number=Plur", MD_WORD_PLAIN, WORDS(these)},
    {"He", "PRON", "PRP", "NP", NOMINATIVE, MD_WORD_PLAIN, WORDS(he)},
    {"They", "PRON", "PRP", "NP", NOMINATIVE, MD_WORD_PLAIN, WORDS(they)},
    {"Him", "PRON", "PRP", "NP", ACCUSATIVE, MD_WORD_PLAIN, WORDS(him)},
    {"His", "PRON", "PRP$", "NP", "Poss=Yes|PronType=Prs", MD_WORD_PLAIN, WORDS(his)},
    {"Who", "PRON", "WDT", "NP", "PronType=Rel", MD_WORD_PLAIN, WORDS(who)},
    {"That", "SCONJ", "IN", "SBAR", "_", MD_WORD_PLAIN, WORDS(that)},
    {"Number", "NUM", "CD", "NP", "NumType=Card", MD_WORD_NUMBER, WORDS(numbers)},
    {"PrepositionV", "ADP", "IN", "PP", "_", MD_WORD_PLAIN, WORDS(verb_prepositions)},
    {"PrepositionN", "ADP", "IN", "PP", "_", MD_WORD_PLAIN, WORDS(noun_prepositions)},
    {"By", "ADP", "IN", "PP", "_", MD_WORD_PLAIN, WORDS(by)},
    {"Particle", "ADP", "RP", "PRT", "_", MD_WORD_PLAIN, WORDS(particles)},
    {"Manner", "ADV", "RB", "ADVP", "_", MD_WORD_PLAIN, WORDS(manner)},
    {"Time", "ADV", "RB", "ADVP", "_", MD_WORD_PLAIN, WORDS(time_)},
    {"Very", "ADV", "RB", "ADVP", "_", MD_WORD_PLAIN, WORDS(very)},
    {"And", "CCONJ", "CC", NULL, "_", MD_WORD_PLAIN, WORDS(and_)},
    {"But", "CCONJ", "CC", NULL, "_", MD_WORD_PLAIN, WORDS(but)},
    {"Conjunction", "SCONJ", "IN", "SBAR", "_", MD_WORD_PLAIN, WORDS(conjunctions)},
    {"Comma", "PUNCT", ",", NULL, "_", MD_WORD_PLAIN, WORDS(comma)},
    {"Stop", "PUNCT", ".", NULL, "_", MD_WORD_PLAIN, WORDS(stop)},
};
const size_t md_word_class_count = sizeof md_word_classes / sizeof *md_word_classes;
