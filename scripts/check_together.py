#!/usr/bin/env python3
"""Checks the sources that a build compiles as one (cmake/MillraceTogether.cmake): where one defines a function for
itself alone, in a namespace without a name, no neighbour defines one of that name. With other parameters a
call could reach the wrong one without an error. Such a source belongs into millrace_compile_apart() of its room.

usage: scripts/check_together.py BUILD_FOLDER     a configured build, build/release for instance"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HIDDEN = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.DOTALL | re.MULTILINE)
# A definition begins with its type, at the start of a line, perhaps behind attributes; a macro of GoogleTest begins
# with capital letters and a bracket. The name of a member stands behind that of its class.
FUNCTION = re.compile(
    r"^(?:\[\[.*?\]\] |__attribute__\(\(.*?\)\) )*(?:[a-z_:]|[A-Z]\w*[ <:&*])[^\n;=(]*?(?<![\w:])(\w+)\(",
    re.MULTILINE)
NO_FUNCTION = re.compile(r"^(?:return|using|namespace|static_assert)\b")


def functions(text):
    return {match[1] for match in FUNCTION.finditer(text) if not NO_FUNCTION.match(match[0])}


def groups(build):
    """The sources of each group; a folder of the tree is one in every target that has sources of it."""
    text = (build / "build.ninja").read_text()
    for path in sorted(set(re.findall(r"\S+/Unity/unity_[a-z]\w+_cxx\.cxx(?=\s)", text))):
        included = re.findall(r'#include "(.*?)"', (build / path).read_text())
        sources = [pathlib.Path(each) for each in included if each.endswith(".cpp")]
        yield [each for each in sources if build not in each.parents]


def clashes(sources):
    hidden, all_functions = collections.defaultdict(set), collections.defaultdict(set)
    for source in sources:
        text, name = source.read_text(), str(source.relative_to(ROOT))
        for function in functions("".join(HIDDEN.findall(text))):
            hidden[function].add(name)
        for function in functions(text):
            all_functions[function].add(name)
    return {(each, tuple(sorted(all_functions[each]))) for each in hidden if len(all_functions[each]) > 1}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    all_groups = list(groups(build))
    if not all_groups:
        sys.exit(f"together: {build} compiles nothing in groups; is it a configured build?")
    found = set().union(*map(clashes, all_groups))
    for function, files in sorted(found):
        print(f"{function}(): in {' and '.join(files)}, which are compiled as one")
    if found:
        sys.exit(1)
    print(f"together: {len(all_groups)} groups, no function hides another")


if __name__ == "__main__":
    main()
