/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MD_STYLE_H
#define MD_STYLE_H

/* The style sheet: light and dark, screen, phone and paper. */
extern const char md_report_style[];

enum { MD_HUES = 8, MD_HEATS = 10 }; /* classes hue1 ... hue8 and heat0 ... heat9 */

#endif
