/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in sets of arc templates: one row each. Nearly all templates come with and without the
 * distance, so that a penalty can choose. None is about the modifier alone: all arcs that may reach
 * a word would have the same features. */
#include "feature/arc.h"

/* Everything that CoNLL-U says of a word. */
static const char arc_507[] =
    "# the arc alone\n"
    "{dir,dist,set.upos,crossed,set.upos dist,crossed dist,set.upos crossed}\n"
    "\n"
    "# one end\n"
    "h.{form,lemma,upos,xpos,feats} {,dist}\n"
    "m.{form,lemma,upos,xpos,feats} {dir,dist}\n"
    "h.{form h.upos,lemma h.xpos,upos h.feats,xpos h.feats,prefix h.upos,suffix h.upos} "
    "{,dist}\n"
    "m.{form m.upos,lemma m.xpos,upos m.feats,xpos m.feats,prefix m.upos,suffix m.upos} "
    "{dir,dist}\n"
    "\n"
    "# both ends\n"
    "h.{form,lemma,upos,xpos,feats,form h.xpos,upos h.feats} "
    "m.{form,lemma,upos,xpos,feats,form m.xpos,upos m.feats} {,dist}\n"
    "h.{prefix,suffix} m.{upos,xpos} {,dist}\n"
    "h.{upos,xpos} m.{prefix,suffix} {,dist}\n"
    "{h.suffix m.suffix,h.lower m.lower,h.lower m.upos,h.upos m.lower} {,dist}\n"
    "\n"
    "# tags of the neighbours of both ends\n"
    "h.upos {,h-1.upos,h+1.upos,h-1.upos h+1.upos} m.upos {,m-1.upos,m+1.upos,m-1.upos "
    "m+1.upos} {,dist}\n"
    "h.xpos {,h-1.xpos,h+1.xpos,h-1.xpos h+1.xpos} m.xpos {,m-1.xpos,m+1.xpos,m-1.xpos "
    "m+1.xpos} {,dist}\n"
    "\n"
    "# tags of the neighbours of one end\n"
    "h.upos {h-2.upos h-1.upos,h+1.upos h+2.upos} {,m.upos} {,dist}\n"
    "m.upos {m-2.upos m-1.upos,m+1.upos m+2.upos} {dir,dist,h.upos,h.upos dist}\n"
    "h.xpos {h-2.xpos h-1.xpos,h+1.xpos h+2.xpos} {,m.xpos} {,dist}\n"
    "m.xpos {m-2.xpos m-1.xpos,m+1.xpos m+2.xpos} {dir,dist,h.xpos,h.xpos dist}\n"
    "h.upos h-1.upos h+1.upos {,dist}\n"
    "m.upos m-1.upos m+1.upos {dir,dist}\n"
    "h.xpos h-1.xpos h+1.xpos {,dist}\n"
    "m.xpos m-1.xpos m+1.xpos {dir,dist}\n"
    "\n"
    "# a word and tags around it\n"
    "h.form h{-1,+1}.upos m.{form,upos} {,dist}\n"
    "h.form h{-1,+1}.xpos m.{form,xpos} {,dist}\n"
    "h.lemma h{-1,+1}.upos m.{lemma,upos} {,dist}\n"
    "h.lemma h{-1,+1}.xpos m.{lemma,xpos} {,dist}\n"
    "m.form m{-1,+1}.upos h.{form,upos} {,dist}\n"
    "m.form m{-1,+1}.xpos h.{form,xpos} {,dist}\n"
    "m.lemma m{-1,+1}.upos h.{lemma,upos} {,dist}\n"
    "m.lemma m{-1,+1}.xpos h.{lemma,xpos} {,dist}\n"
    "\n"
    "# a word at one end, tags around the other\n"
    "h.{form,lemma} m.upos m{-1,+1}.upos {,dist}\n"
    "h.{form,lemma} m.xpos m{-1,+1}.xpos {,dist}\n"
    "m.{form,lemma} h.upos h{-1,+1}.upos {,dist}\n"
    "m.{form,lemma} h.xpos h{-1,+1}.xpos {,dist}\n"
    "\n"
    "# words beside the ends\n"
    "h.upos m.upos {h,m}{-1,+1}.{form,lemma} {,dist}\n"
    "h.xpos m.xpos {h,m}{-1,+1}.{form,lemma} {,dist}\n"
    "h.xpos m.form m{-1,+1}.form {,dist}\n"
    "h.xpos m.lemma m{-1,+1}.lemma {,dist}\n"
    "m.xpos h.form h{-1,+1}.form {,dist}\n"
    "m.xpos h.lemma h{-1,+1}.lemma {,dist}\n"
    "h.form m.form {h,m}{-1,+1}.form {,dist}\n"
    "h.lemma m.lemma {h,m}{-1,+1}.lemma {,dist}\n"
    "\n"
    "# what stands between\n"
    "{h.upos m.upos,h.xpos m.xpos} {set.upos,crossed,between.upos} {,dist}\n"
    "h.{form,lemma} m.{upos,xpos} {set.upos,crossed} {,dist}\n"
    "h.{upos,xpos} m.{form,lemma} {set.upos,crossed} {,dist}\n"
    "h.upos h{-1,+1}.upos m.upos m{-1,+1}.upos crossed {,dist}\n"
    "h.xpos h{-1,+1}.xpos m.xpos m{-1,+1}.xpos crossed {,dist}\n"
    "h.lemma m.lemma crossed {,dist}\n"
    "\n"
    "# morphology\n"
    "h.feats m.feats {set.upos,crossed} {,dist}\n"
    "h.feats m.feats {h,m}{-1,+1}.upos {,dist}\n";

/* Forms and universal tags only: for treebanks without lemmas, language-specific tags and features
 * of words, or where those are not to be used. */
static const char arc_form_upos[] =
    "# the arc alone\n"
    "{dir,dist,set.upos,crossed,set.upos dist,crossed dist}\n"
    "\n"
    "# one end, both ends\n"
    "h.{form,upos,form h.upos} {,dist}\n"
    "m.{form,upos,form m.upos} {dir,dist}\n"
    "h.{form,upos,form h.upos} m.{form,upos,form m.upos} {,dist}\n"
    "{h.lower m.lower,h.lower m.upos,h.upos m.lower} {,dist}\n"
    "{h.suffix m.suffix,h.suffix m.upos,h.upos m.suffix,h.prefix m.upos,h.upos m.prefix} "
    "{,dist}\n"
    "\n"
    "# tags of neighbours\n"
    "h.upos {,h-1.upos,h+1.upos,h-1.upos h+1.upos} m.upos {,m-1.upos,m+1.upos,m-1.upos "
    "m+1.upos} {,dist}\n"
    "h.upos {h-2.upos h-1.upos,h+1.upos h+2.upos} {,m.upos} {,dist}\n"
    "m.upos {m-2.upos m-1.upos,m+1.upos m+2.upos} {dir,dist,h.upos,h.upos dist}\n"
    "h.upos h-1.upos h+1.upos {,dist}\n"
    "m.upos m-1.upos m+1.upos {dir,dist}\n"
    "\n"
    "# a word and tags around it\n"
    "h.form h{-1,+1}.upos m.{form,upos} {,dist}\n"
    "m.form m{-1,+1}.upos h.{form,upos} {,dist}\n"
    "\n"
    "# words beside the ends\n"
    "h.upos m.upos {h,m}{-1,+1}.form {,dist}\n"
    "h.upos m.form m{-1,+1}.form {,dist}\n"
    "h.form m.form m-1.form {,dist}\n"
    "\n"
    "# what stands between\n"
    "h.upos m.upos {set.upos,crossed,between.upos} {,dist}\n"
    "{h.form m.upos,h.upos m.form} {set.upos,crossed} {,dist}\n"
    "h.upos h{-1,+1}.upos m.upos m{-1,+1}.upos crossed {,dist}\n";

/* Single features of words, as many as a language has: those that are governed, and those that
 * agree. */
#define SINGLE_FEATS                                                                               \
    "\n"                                                                                           \
    "# single features\n"                                                                          \
    "both.feats[] {dir,dist}\n"                                                                    \
    "h.upos m.upos both.feats[] {,dist}\n"                                                         \
    "h.{upos,lemma} m.feats[] {dir,dist}\n"                                                        \
    "h.upos m.upos m.feats[] {,dist}\n"                                                            \
    "h.feats[] m.{upos,lemma} {dir,dist}\n"

/* What tells which heads a word may have at all, at a tenth of the cost, by forms and tags alone:
 * the templates that are pruned for may have left out other columns with intent. */
static const char arc_prune[] =
    "{dist,set.upos,crossed dist}\n"
    "h.{lower,upos,suffix h.upos} dist\n"
    "m.{lower,upos,suffix m.upos} dist\n"
    "h.{lower,upos,suffix} m.{lower,upos,suffix} {,dist}\n"
    "h.upos {,h-1.upos,h+1.upos,h-1.upos h+1.upos} m.upos {,m-1.upos,m+1.upos,m-1.upos "
    "m+1.upos} dist\n"
    "h.upos m.upos {h-2.upos h-1.upos,h+1.upos h+2.upos,m-2.upos m-1.upos,m+1.upos m+2.upos}\n"
    "h.upos m.upos {set.upos,crossed,between.upos} {,dist}\n"
    "{h.lower m.upos,h.upos m.lower} {set.upos,crossed}\n"
    "h.lower m.lower crossed\n"
    "h.upos m.upos {h,m}{-1,+1}.lower";

/* Siblings and grandparents, with the same columns as the sets above, and single features. */
static const char second_all[] =
    "# siblings\n"
    "m.{upos,xpos,lemma} s.{upos,xpos,lemma}\n"
    "h.{upos,xpos,lemma} s.{upos,xpos,lemma}\n"
    "h.{upos,lemma} m.{upos,lemma} s.{upos,lemma}\n"
    "h.xpos m.xpos s.xpos {,dist,s.dist}\n"
    "h.upos m.upos s.upos {dist,s.dist}\n"
    "h.upos m.upos s.upos {h-1.upos,h+1.upos,m-1.upos,m+1.upos,s-1.upos,s+1.upos}\n"
    "h.feats m.feats s.feats\n"
    "m.feats s.feats\n"
    "m.form s.form\n"
    "\n"
    "# grandparents\n"
    "g.{upos,xpos,lemma} m.{upos,xpos,lemma}\n"
    "g.{upos,lemma} h.{upos,lemma} m.{upos,lemma}\n"
    "g.xpos h.xpos m.xpos {,dist,g.dist}\n"
    "g.upos h.upos m.upos {dist,g.dist}\n"
    "g.upos h.upos m.upos {g-1.upos,g+1.upos,h-1.upos,h+1.upos,m-1.upos,m+1.upos}\n"
    "g.feats h.feats m.feats\n"
    "g.feats m.feats\n"
    "g.form m.form\n" SINGLE_FEATS;

static const char second_form_upos[] =
    "# siblings\n"
    "m.{upos,form} s.{upos,form}\n"
    "h.{upos,form} s.{upos,form}\n"
    "h.{upos,form} m.{upos,form} s.{upos,form}\n"
    "h.upos m.upos s.upos {dist,s.dist}\n"
    "h.upos m.upos s.upos {h-1.upos,h+1.upos,m-1.upos,m+1.upos,s-1.upos,s+1.upos}\n"
    "h.suffix m.suffix s.suffix\n"
    "\n"
    "# grandparents\n"
    "g.{upos,form} m.{upos,form}\n"
    "g.{upos,form} h.{upos,form} m.{upos,form}\n"
    "g.upos h.upos m.upos {dist,g.dist}\n"
    "g.upos h.upos m.upos {g-1.upos,g+1.upos,h-1.upos,h+1.upos,m-1.upos,m+1.upos}\n"
    "g.suffix h.suffix m.suffix\n";

const md_template_set md_arc_sets[] = {
    {"arc-507", "507 templates over forms, lemmas, both kinds of tags and features of words",
     arc_507},
    {"arc-form-upos", "154 templates over forms and universal tags only", arc_form_upos},
    {"arc-prune", "61 templates of parsers that tell others which arcs to look at", arc_prune},
    {NULL, NULL, NULL}};

const char *const md_arc_second[] = {second_all, second_form_upos, NULL};
