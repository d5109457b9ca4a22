#!/usr/bin/env python3
"""Prints a header with its comments as Doxygen reads them.

The headers have plain `//` comments. The first one of a file describes the file; one right before a
declaration describes this; one after code, with the lines below it that go on at the same column,
describes that code. Other comments, such as titles of sections, stay as they are. Lines that are
indented within a comment are lists of columns and keep their form.
"""
import re
import sys

LINE = re.compile(r"(\s*)//(?!/)(.*)$")
TRAILING = re.compile(r"(.*?[^\s:\"'].*?\s)//(?!/)\s?(.*)$")
SPECIAL = re.compile(r"([\\@<>#%&])")


def escaped(text):
    return SPECIAL.sub(r"\\\1", text)


def text_of(line):
    text = LINE.match(line)[2]
    return text[1:] if text.startswith(" ") else text


def converted(lines, mark):
    """Returns the lines of a comment with another mark; indented ones become a block of code."""
    indent = LINE.match(lines[0])[1]
    result, in_columns = [], False
    for line in lines:
        text = text_of(line)
        columns = text.startswith("  ")
        if columns != in_columns:
            result.append("@code{.txt}" if columns else "@endcode")
            in_columns = columns
        result.append(text if columns else escaped(text))
    if in_columns:
        result.append("@endcode")
    return [f"{indent}{mark} {text}".rstrip() for text in result]


def blocks(lines):
    """Yields lines of code one by one, and adjacent lines of comments together."""
    block = []
    for line in lines:
        if LINE.match(line):
            block.append(line)
            continue
        if block:
            yield block
            block = []
        yield [line]
    if block:
        yield block


def continues(trailing, line):
    """Whether a line of a comment goes on with the comment behind the code above it."""
    return len(LINE.match(line)[1]) == trailing.index("//")


def filtered(lines):
    groups = list(blocks(lines))
    result = []
    first = True
    for i, group in enumerate(groups):
        if not LINE.match(group[0]):
            code = TRAILING.match(group[0])
            if code and not group[0].lstrip().startswith("#"):
                result.append(f"{code[1]}///< {escaped(code[2])}")
            else:
                result.append(group[0])
            continue
        before = groups[i - 1][0] if i else ""
        if TRAILING.match(before) and not LINE.match(before) and continues(before, group[0]):
            while group and continues(before, group[0]):
                result += converted([group[0]], "///<")
                group = group[1:]
            if not group:
                continue
        after = groups[i + 1][0].strip() if i + 1 < len(groups) else ""
        if first:
            result += ["/// \\file", *converted(group, "///")]
        elif after and not after.startswith(("#", "}", "//")):
            result += converted(group, "///")
        else:
            result += group
        first = False
    return result


def main():
    with open(sys.argv[1], encoding="utf-8") as header:
        print("\n".join(filtered(header.read().splitlines())))


if __name__ == "__main__":
    main()
