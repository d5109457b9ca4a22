#!/usr/bin/env python3
"""Checks that sources which a sanitizer build compiles as one (cmake/MillraceTogether.cmake) define no functions of
the same name for themselves: with other parameters than in a neighbour, a call could reach the neighbour's without an
error. One of two such sources belongs into millrace_compile_apart() of its room.

usage: scripts/check_together.py BUILD_FOLDER     a configured build of a sanitizer, build/asan-ubsan"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HIDDEN = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.DOTALL | re.MULTILINE)
# A definition begins with its type, at the start of a line; a macro of GoogleTest with a capital letter and a bracket.
FUNCTION = re.compile(r"^(?:[a-z]|[A-Z]\w*[ <:&*])[^\n;=(]*?\b(\w+)\(", re.MULTILINE)
NO_FUNCTION = re.compile(r"^(?:return|using|namespace|static_assert)\b")


def functions(source):
    for part in HIDDEN.findall(source.read_text()):
        for match in FUNCTION.finditer(part):
            if not NO_FUNCTION.match(match[0]):
                yield match[1]


def groups(build):
    """The sources of each group; a folder of the tree is one in every target that has sources of it."""
    text = (build / "build.ninja").read_text()
    for path in sorted(set(re.findall(r"\S+/Unity/unity_\w+_cxx\.cxx(?=\s)", text))):
        included = re.findall(r'#include "(.*?)"', (build / path).read_text())
        sources = [pathlib.Path(each) for each in included if each.endswith(".cpp")]
        yield [each for each in sources if build not in each.parents]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    found = set()
    for sources in groups(build):
        by_name = collections.defaultdict(set)
        for source in sources:
            for name in functions(source):
                by_name[name].add(str(source.relative_to(ROOT)))
        found |= {(name, tuple(sorted(files))) for name, files in by_name.items() if len(files) > 1}
    for name, files in sorted(found):
        print(f"{name}(): in {' and '.join(files)}, which are compiled as one")
    if found:
        sys.exit(1)
    print("together: no function hides another")


if __name__ == "__main__":
    main()
