/* SPDX-License-Identifier: BSD-3-Clause */
#include "online/rule.h"

const md_rule *const md_rules[] = {
#define MD_RULE(name) &md_rule_##name,
#include "online/rules.def"
#undef MD_RULE
    NULL};
