/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws sentences: symbols are written by rules, drawn by their weights, until they are words. The
 * head of a rule is that of the whole, and its other parts depend on it. A sentence that grows too
 * long or too deep is drawn again. */
#include "generate/gen_sentences.h"

#include "generate/gen_grammar.h"

enum { DEEPEST = 24, NAME_BYTES = 32, TOO_LONG = -1, FORMS_MOST = 7 };

static const double SINGULAR = 0.62;  /* of numbers that nothing else decides */
static const double MADE_UP = 0.3;    /* of names */
static const double IN_DIGITS = 0.4;  /* of numbers */
static const double MISSPELT = 0.03;  /* words, at noise 1 */
static const double MISTAGGED = 0.02; /* words, at noise 1 */
static const double TURNED = 0.06;    /* sentences, at noise 1 */

/* What is going on while a sentence is written. */
typedef struct writer {
    md_sentence *sentence;
    md_random *random;
    int chunks;          /* so far */
    const char *unknown; /* a name that is neither symbol nor class: the grammar's fault */
} writer;

/* What a part of a rule asks for. */
typedef struct wish {
    char name[NAME_BYTES], form[8], relation[16];
    char number; /* 's' or 'p' */
    bool is_head;
    const char *chunk; /* of the whole, NULL: none */
    int chunk_number;
} wish;

static bool happens(md_random *random, double probability)
{
    return md_random_uniform(random) < probability;
}

static char draw_number(md_random *random)
{
    return happens(random, SINGULAR) ? 's' : 'p';
}

/* ---- words ---- */

/* The form with that place among those of a word. */
static void copy_form(char *to, const char *forms, size_t place)
{
    for (; place > 0; place--)
        forms = strchr(forms, ' ') + 1;
    const size_t length = strcspn(forms, " ");
    memcpy(to, forms, length);
    to[length] = '\0';
}

static size_t count_forms(const char *forms)
{
    size_t count = 1;
    for (; *forms != '\0'; forms++)
        count += *forms == ' ';
    return count;
}

static void write_noun(md_word *word, const char *forms, char number)
{
    copy_form(word->form, forms, number == 'p');
    word->xpos = number == 'p' ? "NNS" : "NN";
    word->feats = number == 'p' ? "Number=Plur" : "Number=Sing";
}

static void write_verb(md_word *word, const char *forms, const char *form, char number)
{
    const bool is_be = count_forms(forms) == FORMS_MOST;
    const bool plural = number == 'p';
    size_t place = 0;
    word->xpos = "VB";
    word->feats = "VerbForm=Inf";
    if (strcmp(form, "pres") == 0) {
        place = is_be ? 1 + plural : !plural;
        word->xpos = plural ? "VBP" : "VBZ";
        word->feats =
            plural ? "Number=Plur|Tense=Pres|VerbForm=Fin" : "Number=Sing|Tense=Pres|VerbForm=Fin";
    } else if (strcmp(form, "past") == 0) {
        place = is_be ? (size_t)3 + plural : 2;
        word->xpos = "VBD";
        word->feats = "Tense=Past|VerbForm=Fin";
    } else if (strcmp(form, "part") == 0) {
        place = is_be ? 5 : 3;
        word->xpos = "VBN";
        word->feats = "Tense=Past|VerbForm=Part";
    } else if (strcmp(form, "ing") == 0) {
        place = is_be ? 6 : 4;
        word->xpos = "VBG";
        word->feats = "VerbForm=Ger";
    }
    copy_form(word->form, forms, place);
}

/* Two or three syllables that were never heard before. */
static void make_name(char *form, md_random *random)
{
    static const char *const onsets[] = {"B", "D", "G", "K", "L", "M",
                                         "N", "R", "S", "T", "V", "Z"};
    static const char *const vowels[] = {"a", "e", "i", "o", "u"};
    static const char *const ends[] = {"", "n", "r", "s", "l"};
    const size_t syllables = 2 + md_random_below(random, 2);
    size_t used = 0;
    for (size_t i = 0; i < syllables; i++) {
        const char *onset = onsets[md_random_below(random, 12)];
        const char *vowel = vowels[md_random_below(random, 5)];
        used += (size_t)snprintf(form + used, MD_WORD_BYTES - used, "%c%s",
                                 i == 0 ? *onset : *onset - 'A' + 'a', vowel);
    }
    snprintf(form + used, MD_WORD_BYTES - used, "%s", ends[md_random_below(random, 5)]);
}

static void make_number(char *form, md_random *random)
{
    const bool is_large = happens(random, 0.3);
    snprintf(form, MD_WORD_BYTES, "%zu",
             is_large ? 1000 + md_random_below(random, 9000) : 2 + md_random_below(random, 98));
}

/* A word of the class; returns its place, or TOO_LONG. Those that stand first are drawn more often:
 * the smaller of two draws. */
static int write_word(writer *to, const md_word_class *class, const wish *wanted)
{
    md_random *random = to->random;
    if (to->sentence->count == MD_SENTENCE_MOST)
        return TOO_LONG;
    md_word *word = &to->sentence->words[to->sentence->count];
    const size_t one = md_random_below(random, class->count);
    const size_t other = md_random_below(random, class->count);
    const char *forms = class->words[one < other ? one : other];
    *word = (md_word){.upos = class->upos, .xpos = class->xpos, .feats = class->feats, .head = -1};
    copy_form(word->form, forms, 0);
    copy_form(word->lemma, forms, 0);
    if (class->inflection == MD_WORD_NOUN)
        write_noun(word, forms, wanted->number);
    else if (class->inflection == MD_WORD_VERB)
        write_verb(word, forms, wanted->form, wanted->number);
    else if (class->inflection == MD_WORD_NAME && happens(random, MADE_UP))
        make_name(word->form, random);
    else if (class->inflection == MD_WORD_NUMBER && happens(random, IN_DIGITS))
        make_number(word->form, random);
    if (class->inflection == MD_WORD_NAME || class->inflection == MD_WORD_NUMBER)
        memcpy(word->lemma, word->form, sizeof word->lemma);
    word->chunk = wanted->chunk != NULL ? wanted->chunk : class->chunk;
    word->chunk_number = wanted->chunk != NULL ? wanted->chunk_number : ++to->chunks;
    return (int)to->sentence->count++;
}

/* ---- rules ---- */

/* Does the rule write symbols of this name and number? With `open` those whose names end in @ are
 * asked. *rest: what stands in the place of @. */
static bool rule_fits(const md_grammar_rule *rule, const wish *wanted, bool open, const char **rest)
{
    const char *dot = strchr(rule->symbol, '.');
    size_t length = dot != NULL ? (size_t)(dot - rule->symbol) : strlen(rule->symbol);
    const bool is_open = rule->symbol[length - 1] == '@';
    if (is_open != open || (dot != NULL && dot[1] != wanted->number))
        return false;
    length -= is_open;
    *rest = wanted->name + length;
    return strncmp(rule->symbol, wanted->name, length) == 0 && (is_open || **rest == '\0');
}

static const md_grammar_rule *draw_rule(const wish *wanted, bool open, const char **rest,
                                        md_random *random)
{
    int total = 0;
    for (size_t i = 0; i < md_grammar_rule_count; i++)
        total +=
            rule_fits(&md_grammar_rules[i], wanted, open, rest) ? md_grammar_rules[i].weight : 0;
    if (total == 0)
        return NULL;
    int left = (int)md_random_below(random, (size_t)total);
    size_t i = 0;
    for (;; i++) {
        if (!rule_fits(&md_grammar_rules[i], wanted, open, rest))
            continue;
        left -= md_grammar_rules[i].weight;
        if (left < 0)
            return &md_grammar_rules[i];
    }
}

/* Copies up to one of the signs that may follow, with rest in the place of @. */
static const char *copy_part(char *to, size_t size, const char *from, const char *stops,
                             const char *rest)
{
    size_t used = 0;
    for (; *from != '\0' && strchr(stops, *from) == NULL; from++) {
        const char *piece = *from == '@' ? rest : from;
        const size_t length = *from == '@' ? strlen(rest) : 1;
        for (size_t i = 0; i < length && used + 1 < size; i++)
            to[used++] = piece[i];
    }
    to[used] = '\0';
    return from;
}

/* Reads NAME[/FORM][.NUMBER][:RELATION][!] at text and returns the place after it and its blank. */
static const char *read_part(wish *part, const char *text, const wish *whole, char shared,
                             const char *rest, md_random *random)
{
    text = copy_part(part->name, sizeof part->name, text, "/.:! ", rest);
    part->form[0] = part->relation[0] = '\0';
    if (*text == '/')
        text = copy_part(part->form, sizeof part->form, text + 1, ".:! ", "");
    if (*text == '.') {
        part->number = text[1] == 'n' ? whole->number : text[1] == 'm' ? shared : text[1];
        text += 2;
    } else {
        part->number = draw_number(random);
    }
    if (*text == ':')
        text = copy_part(part->relation, sizeof part->relation, text + 1, "! ", "");
    part->is_head = *text == '!';
    text += part->is_head;
    return *text == ' ' ? text + 1 : text;
}

/* A relation as a constant string, which outlives the part it was read from. */
static const char *relation_text(const char *relation)
{
    static const char *const known[] = {
        "acl:relcl", "advcl", "advmod",   "amod",         "aux",       "aux:pass", "case",
        "cc",        "ccomp", "compound", "compound:prt", "conj",      "cop",      "det",
        "flat",      "iobj",  "mark",     "nmod",         "nmod:poss", "nsubj",    "nsubj:pass",
        "nummod",    "obj",   "obl",      "obl:agent",    "punct",     "xcomp"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], relation) == 0)
            return known[i];
    return NULL;
}

static int write_symbol(writer *to, const wish *wanted, int depth);

/* Writes the parts of a rule and returns the place of the head. */
static int write_parts(writer *to, const md_grammar_rule *rule, const wish *whole, const char *rest,
                       int depth)
{
    enum { PARTS_MOST = 6 };
    int place[PARTS_MOST] = {0};
    const char *relation[PARTS_MOST];
    size_t count = 0;
    int head = TOO_LONG;
    const char shared = draw_number(to->random);
    wish part = {.chunk = whole->chunk, .chunk_number = whole->chunk_number};
    if (rule->chunk != NULL && whole->chunk == NULL) {
        part.chunk = rule->chunk;
        part.chunk_number = ++to->chunks;
    }
    for (const char *text = rule->parts; *text != '\0' && count < PARTS_MOST; count++) {
        text = read_part(&part, text, whole, shared, rest, to->random);
        relation[count] = relation_text(part.relation);
        if (relation[count] == NULL && !part.is_head)
            to->unknown = rule->parts;
        place[count] = write_symbol(to, &part, depth + 1);
        if (place[count] == TOO_LONG)
            return TOO_LONG;
        if (part.is_head)
            head = place[count];
    }
    for (size_t i = 0; i < count; i++) {
        if (place[i] == head)
            continue;
        to->sentence->words[place[i]].head = head;
        to->sentence->words[place[i]].relation = relation[i];
    }
    return head;
}

/* A symbol or a word; returns the place of its head. */
static int write_symbol(writer *to, const wish *wanted, int depth)
{
    const char *rest = "";
    if (depth > DEEPEST)
        return TOO_LONG;
    for (size_t i = 0; i < md_word_class_count; i++)
        if (strcmp(md_word_classes[i].name, wanted->name) == 0)
            return write_word(to, &md_word_classes[i], wanted);
    const md_grammar_rule *rule = draw_rule(wanted, false, &rest, to->random);
    if (rule == NULL)
        rule = draw_rule(wanted, true, &rest, to->random);
    if (rule != NULL)
        return write_parts(to, rule, wanted, rest, depth);
    to->unknown = md_grammar_rules[0].parts;
    return TOO_LONG;
}

/* ---- the finish, and noise ---- */

static void polish(md_sentence *sentence)
{
    for (size_t i = 0; i + 1 < sentence->count; i++)
        if (strcmp(sentence->words[i].form, "a") == 0 &&
            strchr("aeiouAEIO", sentence->words[i + 1].form[0]) != NULL)
            memcpy(sentence->words[i].form, "an", 3);
    char *first = sentence->words[0].form;
    if (*first >= 'a' && *first <= 'z')
        *first = (char)(*first - 'a' + 'A');
}

/* Two letters within the word change places. */
static void misspell(char *form, md_random *random)
{
    const size_t length = strlen(form);
    if (length < 4)
        return;
    const size_t i = 1 + md_random_below(random, length - 3);
    const char letter = form[i];
    form[i] = form[i + 1];
    form[i + 1] = letter;
}

/* The tag of words that look alike. */
static void mistag(md_word *word)
{
    static const struct {
        const char *xpos, *other_xpos, *other_upos;
    } confused[] = {{"NN", "VB", "VERB"},   {"VB", "NN", "NOUN"},  {"NNS", "VBZ", "VERB"},
                    {"VBZ", "NNS", "NOUN"}, {"VBP", "NN", "NOUN"}, {"VBD", "VBN", "VERB"},
                    {"VBN", "VBD", "VERB"}, {"JJ", "NN", "NOUN"},  {"RB", "JJ", "ADJ"},
                    {"RP", "IN", "ADP"},    {"IN", "RP", "ADP"},   {"NNP", "NN", "NOUN"},
                    {"VBG", "NN", "NOUN"},  {"WDT", "DT", "DET"},  {"DT", "IN", "ADP"}};
    for (size_t i = 0; i < sizeof confused / sizeof *confused; i++) {
        if (strcmp(word->xpos, confused[i].xpos) != 0)
            continue;
        word->xpos = confused[i].other_xpos;
        word->upos = confused[i].other_upos;
        word->feats = "_";
        return;
    }
}

/* Two neighbours change places, the stop and the first word excepted. */
static void turn_around(md_sentence *sentence, md_random *random)
{
    if (sentence->count < 4)
        return;
    const size_t i = 1 + md_random_below(random, sentence->count - 3);
    const md_word word = sentence->words[i];
    sentence->words[i] = sentence->words[i + 1];
    sentence->words[i + 1] = word;
    for (size_t k = 0; k < sentence->count; k++) {
        int *head = &sentence->words[k].head;
        if (*head == (int)i)
            *head = (int)i + 1;
        else if (*head == (int)i + 1)
            *head = (int)i;
    }
}

static void disturb(md_sentence *sentence, double noise, md_random *random)
{
    for (size_t i = 0; i < sentence->count; i++) {
        if (happens(random, MISSPELT * noise))
            misspell(sentence->words[i].form, random);
        if (happens(random, MISTAGGED * noise))
            mistag(&sentence->words[i]);
    }
    if (happens(random, TURNED * noise))
        turn_around(sentence, random);
}

medley_status md_sentence_draw(md_sentence *sentence, double noise, md_random *random,
                               medley_error *error)
{
    const wish whole = {.name = "S", .number = 's'};
    int head = TOO_LONG;
    while (head == TOO_LONG) {
        writer to = {.sentence = sentence, .random = random};
        sentence->count = 0;
        head = write_symbol(&to, &whole, 0);
        if (to.unknown != NULL)
            return md_fail(error, MEDLEY_FAILED, "the grammar has a mistake in '%s'", to.unknown);
    }
    sentence->words[head].relation = "root";
    polish(sentence);
    disturb(sentence, noise, random);
    return MEDLEY_OK;
}

void md_sentence_chunk(char label[16], const md_sentence *sentence, size_t word)
{
    const md_word *this = &sentence->words[word];
    const bool continues = word > 0 && this[-1].chunk_number == this->chunk_number;
    if (this->chunk == NULL)
        snprintf(label, 16, "O");
    else
        snprintf(label, 16, "%s-%s", continues ? "I" : "B", this->chunk);
}
