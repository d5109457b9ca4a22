#!/usr/bin/env python3
"""Checks the links of the documentation, without the network.

Every relative link of a Markdown file must lead to a file or folder of the repository, and its
fragment to a heading. Sources may name pages, too ("docs/nrt.md#threads"); these must exist. Every
page directly in docs must be in README's list of documents, and every other one must be reachable
from README. Exit status 1 when something is wrong.

Fragments are those that GitHub gives headings; scripts/site gives headings the same. Only the first
of several equal headings of a page can be linked, since the two number the others differently.
"""
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"\s*(```+|~~~+)")
HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*$")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"\s{0,3}\[[^\]]+\]:\s+(\S+)")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
MENTION = re.compile(r"docs/[a-z0-9/-]+\.md(?:#[a-z0-9-]+)?")
# Pages have links, and what makes the site names pages that it writes.
ELSEWHERE = [":!*.md", ":!scripts/check_links.py", ":!scripts/site"]
LIST = re.compile(r"\s*([-*+]|1\.)\s")


def slug(text, separator="-"):
    """Returns the fragment that GitHub gives to a heading: no punctuation, a hyphen for each space."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", separator)


def prose(text):
    """Yields the number and the text of each line that is not in a fenced block of code."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        else:
            yield number, line


class Page:
    """The links of a Markdown file, as (line, target), the fragments of its headings, and its slips."""

    def __init__(self, text):
        self.links = []
        self.fragments = set()
        self.slips = []
        paragraphs = {}
        before, number_before = "", 0
        for number, line in prose(text):
            heading = HEADING.match(line)
            if heading:
                self.fragments.add(slug(heading[1]))
            follows_text = before.strip() and number == number_before + 1
            if LIST.match(line) and follows_text and not LIST.match(before) and before[0] not in " |#>":
                self.slips.append((number, "MkDocs sees a list only after an empty line"))
            before, number_before = line, number
            definition = DEFINITION.match(line)
            if definition:
                self.links.append((number, definition[1]))
            paragraphs[number] = line
        self.links += links_of(paragraphs)


def links_of(lines):
    """Yields the links in numbered lines of prose; the text of a link may go on in the next line."""
    text, starts = "", []
    for number, line in lines.items():
        starts.append((len(text), number))
        text += line + "\n"
    # Code hides links; its length stays, so that positions do.
    text = CODE.sub(lambda code: "`" * len(code[0]), text)
    for link in LINK.finditer(text):
        yield max(number for start, number in starts if start <= link.start()), link[1]


class Tree:
    def __init__(self):
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout.splitlines()
        self.files = {name for name in listed if (ROOT / name).is_file()}
        self.folders = {str(folder) for name in self.files for folder in pathlib.PurePath(name).parents}
        self.pages = {
            name: Page((ROOT / name).read_text(encoding="utf-8"))
            for name in sorted(self.files)
            if name.endswith(".md")
        }

    def resolve(self, page, target):
        """Returns the file or folder and the fragment that a link on a page leads to."""
        path, _, fragment = target.partition("#")
        if not path:
            return page, fragment
        parts = []
        for part in (pathlib.PurePath(page).parent / urllib.parse.unquote(path)).parts:
            if part == ".." and parts and parts[-1] != "..":
                parts.pop()
            else:
                parts.append(part)
        return "/".join(parts) or ".", fragment

    def fault(self, path, fragment):
        """Returns what is wrong with a link to `path`, or None."""
        if path not in self.files and path not in self.folders:
            return f"there is no {path}"
        if fragment and path in self.pages and fragment not in self.pages[path].fragments:
            return f"{path} has no heading for #{fragment}"
        return None

    def reachable(self, start):
        """Returns the pages that links lead to from `start`."""
        found, waiting = {start}, [start]
        while waiting:
            page = waiting.pop()
            for _, target in self.pages[page].links:
                path = self.resolve(page, target)[0] if not SCHEME.match(target) else ""
                path = f"{path}/README.md" if path in self.folders else path
                if path in self.pages and path not in found:
                    found.add(path)
                    waiting.append(path)
        return found


def mentions():
    """Yields the place and the name of each page that a file other than a page mentions."""
    grep = subprocess.run(
        ["git", "grep", "-InE", r"docs/[a-z0-9/-]+\.md", "--", *ELSEWHERE],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout
    for line in grep.splitlines():
        name, number, text = line.split(":", 2)
        for found in MENTION.finditer(text):
            yield f"{name}:{number}", found[0]


def main():
    tree = Tree()
    wrong = []
    for name, page in tree.pages.items():
        wrong += [f"{name}:{number}: {what}" for number, what in page.slips]
        for number, target in page.links:
            if SCHEME.match(target):
                continue
            fault = tree.fault(*tree.resolve(name, target))
            if fault:
                wrong.append(f"{name}:{number}: {fault}")
    for place, target in mentions():
        fault = tree.fault(*target.partition("#")[::2])
        if fault:
            wrong.append(f"{place}: {fault}")
    listed = {tree.resolve("README.md", target)[0] for _, target in tree.pages["README.md"].links}
    reachable = tree.reachable("README.md")
    for name in tree.pages:
        if re.fullmatch(r"docs/[^/]+", name) and name not in listed:
            wrong.append(f"README.md: does not list {name}")
        elif name not in reachable:
            wrong.append(f"{name}: no link leads here from README.md")
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    print(f"links: {sum(len(page.links) for page in tree.pages.values())} in {len(tree.pages)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
