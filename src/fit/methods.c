/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of methods: the rules of the online loop, then the others. */
#include "online/run.h"

#define MD_METHOD(name) extern const md_method md_method_##name;
#include "fit/methods.def"
#undef MD_METHOD

#define MD_RULE(name)                                                                              \
    static const md_method method_##name = {.about = &md_rule_##name.about,                        \
                                            .kind = &md_online_kind,                               \
                                            .rule = &md_rule_##name,                               \
                                            .traits = &md_rule_##name.traits,                      \
                                            .fit = md_fit_online,                                  \
                                            .fit_path = md_fit_online_path};
#include "online/rules.def"
#undef MD_RULE

const md_method *const md_methods[] = {
#define MD_RULE(name) &method_##name,
#include "online/rules.def"
#undef MD_RULE
#define MD_METHOD(name) &md_method_##name,
#include "fit/methods.def"
#undef MD_METHOD
    NULL};
