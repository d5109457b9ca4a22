#!/usr/bin/env python3
"""Checks that comments are sentences or noun phrases that can be read alone.

A comment that begins with one of the words below hangs in the air: its subject is in a line of code,
or in another comment. LIMIT is how many there are; it may only fall. Exit status 1 when there are
more.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 0
SUFFIXES = {".h", ".hpp", ".c", ".cpp"}
COMMENT = re.compile(r"\s*//+!?<?\s*(.*)")
FRAGMENT = re.compile(
    r"(Which|Whose|Those|What|When \w+ (last|again)|That( of)?|Of|So (that|few|many)|As with|Like (that|those)) "
)


def first_lines(path):
    """Yields the number and the text of the first line of each comment."""
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        comment = COMMENT.match(line)
        if comment and not inside:
            yield number, comment[1]
        inside = comment is not None


def main():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    found = [
        f"{name}:{number}: {text}"
        for name in listed
        if pathlib.Path(name).suffix in SUFFIXES and (ROOT / name).is_file()
        for number, text in first_lines(ROOT / name)
        if FRAGMENT.match(text)
    ]
    if len(found) <= LIMIT:
        print(f"comments: {len(found)} fragments, at most {LIMIT}")
        return 0
    print("\n".join(found))
    print(f"comments: {len(found)} fragments, at most {LIMIT}: write whole sentences", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
