#!/usr/bin/env python3
"""Prints a header with its comments as Doxygen reads them.

The headers have plain `//` comments. The first one of a file describes the file, and the classes
that its first line names. One right before a declaration describes this, and the declarations after
it if it begins with a verb in the plural, such as "Return". One after code, with the lines below it
that go on at the same column, describes that code. Other comments, such as titles of sections, stay
as they are. Lines that are indented within a comment are lists of columns and keep their form.
"""
import re
import sys

LINE = re.compile(r"(\s*)//(?!/)(.*)$")
TRAILING = re.compile(r"(.*?[^\s:\"'].*?\s)//(?!/)\s?(.*)$")
CLASS = re.compile(r"(?:class|struct)(?: \[\[\w+\]\])? (\w+)(?: final)?(?: :.*)? \{")
UNDESCRIBED = re.compile(r"#(?!define)|}|//")
OF_SEVERAL = re.compile(r"\s*// (?:Return|Make|Handles|Both) ")
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


class Filter:
    """Makes the lines of one header anew."""

    def __init__(self, name):
        self.name = name
        self.named = ""  # the first line of the comment of the file
        self.is_open = False  # whether a comment describes several declarations
        self.result = []

    def code(self, line, is_described):
        if self.is_open and (not line.strip() or line.lstrip().startswith(("}", "private:"))):
            self.end_several()
        declared = CLASS.match(line)
        if declared and not is_described and re.search(rf"\b{declared[1]}\b", self.named):
            self.result.append(f"/// \\copydetails {self.name}")
        comment = TRAILING.match(line)
        if comment and not line.lstrip().startswith("#"):
            self.result.append(f"{comment[1]}///< {escaped(comment[2])}")
        else:
            self.result.append(line)

    def end_several(self):
        if self.is_open:
            self.result.append("///@}")
        self.is_open = False

    def comment(self, lines, before, after):
        """Adds a comment; `before` and `after` are the lines around it."""
        self.end_several()
        if not self.named:
            self.named = text_of(lines[0])
            self.result += ["/// \\file", *converted(lines, "///")]
            return
        if TRAILING.match(before) and not LINE.match(before):
            going_on = sum(1 for line in lines if continues(before, line))
            for line in lines[:going_on]:
                self.result += converted([line], "///<")
            lines = lines[going_on:]
        if not lines:
            return
        if not after or UNDESCRIBED.match(after):
            self.result += lines
            return
        if OF_SEVERAL.match(lines[0]):
            self.is_open = True
            self.result.append("///@{")
        self.result += converted(lines, "///")


def filtered(name, lines):
    groups = [[""], *blocks(lines), [""]]
    header = Filter(name)
    for before, group, after in zip(groups, groups[1:], groups[2:]):
        if LINE.match(group[0]):
            header.comment(group, before[0], after[0].strip())
        else:
            header.code(group[0], LINE.match(before[0]) is not None)
    return header.result


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as header:
        lines = header.read().splitlines()
    print("\n".join(filtered(path[path.rindex("include/") + len("include/") :], lines)))


if __name__ == "__main__":
    main()
