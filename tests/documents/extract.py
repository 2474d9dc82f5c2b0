# SPDX-License-Identifier: BSD-3-Clause
"""Finds the commands and programs that a Markdown document shows.

Commands are
- blocks (fenced, or indented by four) whose first line is for a shell: all of their lines; of other
  blocks those from the first that begins with 'medley ',
- sessions, blocks with lines that begin with '$ ': those lines; what stands below each is the
  output that it is said to have,
- code inside text and tables that begins with 'medley '; of that which begins with '--', the names of
  options.
Programs are fenced blocks marked c or python. Everything else is text."""

import re
import subprocess
import textwrap
from dataclasses import dataclass, field

# A block without '$ ' is for a shell if its first line begins with one of these.
SHELL_WORDS = re.compile(
    r"(medley|make|cc|export|for|cd|git|python3|pip|zcat|cut|paste|head|tail|awk|sed|seq|printf|cat|"
    r"echo|mkdir|svm-\w+|crfsuite|wapiti|crf_\w+|experiments/\S+|\./\w+|[A-Z]\w*=\S*)(\s|$)")


@dataclass
class Piece:
    kind: str  # "command", "mention" (in running text), "option", "link", "c" or "python"
    line: int  # in the document
    text: str
    output: list = field(default_factory=list)  # shown lines of a session


def complete(text):
    """Has a shell got a whole command here, not the beginning of one?"""
    if text.rstrip("\n").endswith("\\"):
        return False
    checked = subprocess.run(["bash", "-n", "-c", text], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    return checked.returncode == 0 and not checked.stderr


def split_commands(lines, first_line):
    """Lines of a shell, each with those that continue it."""
    pieces, begun = [], []
    for number, line in enumerate(lines, first_line):
        if not begun and (not line.strip() or line.lstrip().startswith("#")):
            continue
        begun.append(line)
        # most lines are whole commands of one word and options: no need to ask a shell
        text = "\n".join(begun)
        if (len(begun) == 1 and re.fullmatch(r"[\w./ =,:@+-]+", text)
                and not re.match(r"(for|while|if)\b", text)) or complete(text):
            pieces.append(Piece("command", number - len(begun) + 1, text))
            begun = []
    if begun:
        pieces.append(Piece("command", first_line + len(lines) - len(begun), "\n".join(begun)))
    return pieces


def split_session(lines, first_line):
    pieces, number = [], 0
    while number < len(lines):
        line = lines[number]
        if not line.startswith("$ "):
            if pieces and line.strip() and line.strip() != "...":
                pieces[-1].output.append(line)
            number += 1
            continue
        begun = [line[2:]]
        while not complete("\n".join(begun)) and number + len(begun) < len(lines):
            begun.append(lines[number + len(begun)])
        pieces.append(Piece("command", first_line + number, "\n".join(begun)))
        number += len(begun)
    return pieces


def read_block(lines, first_line, language):
    if language in ("c", "python"):
        return [Piece(language, first_line, "\n".join(lines) + "\n")]
    if any(line.startswith("$ ") for line in lines):
        return split_session(lines, first_line)
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    if language in ("sh", "bash") or (not language and SHELL_WORDS.match(first)):
        return split_commands(lines, first_line)
    for number, line in enumerate(lines):  # a file is shown, and the command that reads it
        if line.startswith("medley "):
            return split_commands(lines[number:], first_line + number)
    return []


def read_text(lines, first_line):
    """Code in running text and tables; it may be broken across lines."""
    text = "\n".join(lines)
    pieces = []
    for found in re.finditer(r"(?<!`)`(medley\s[^`]+)`(?!`)", text):
        command = re.sub(r"\s+", " ", found[1].replace("\\|", "|")).strip()
        pieces.append(Piece("mention", first_line + text.count("\n", 0, found.start()), command))
    for pattern, kind in ((r"(?<!`)`(--\w[^`]*)`(?!`)", "option"),
                          (r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", "link")):
        for found in re.finditer(pattern, text):
            pieces.append(Piece(kind, first_line + text.count("\n", 0, found.start()), found[1]))
    return pieces


def extract(text):
    """All pieces of a document, in its order."""
    lines = text.splitlines()
    pieces, prose, number = [], 0, 0

    def end_prose():
        if number > prose:
            pieces.extend(read_text(lines[prose:number], prose + 1))

    while number < len(lines):
        fence = re.match(r"(```+)\s*(\w*)", lines[number])
        indented = (lines[number].startswith("    ") and number > 0
                    and not lines[number - 1].strip())
        if not fence and not indented:
            number += 1
            continue
        end_prose()
        end = number + 1
        if fence:
            while end < len(lines) and not lines[end].startswith(fence[1]):
                end += 1
            pieces += read_block(lines[number + 1:end], number + 2, fence[2])
            end += 1
        else:
            while end < len(lines) and (lines[end].startswith("    ") or (
                    not lines[end].strip() and end + 1 < len(lines)
                    and lines[end + 1].startswith("    "))):
                end += 1
            block = textwrap.dedent("\n".join(lines[number:end])).split("\n")
            pieces += read_block(block, number + 1, "")
        number = prose = end
    end_prose()
    return pieces
