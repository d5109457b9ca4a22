#!/usr/bin/env python3
"""Checks that docs/troubleshooting.md quotes messages as they are.

Its headings are messages, in which "…" stands for names and numbers. The text between these must occur
in the sources, and in the example below the heading. Only the messages of other programs, the last
section, are not looked for. Exit status 1 when something is wrong.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/troubleshooting.md"
OTHERS = "\n## Messages of other programs\n"
SOURCES = ["src/*.cpp", "src/*.h", "python/*.cpp", "python/*.h", "python/*.py", "include/*"]
ENTRY = re.compile(r"^### `([^`\n]+)`\n\n```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^### ", re.MULTILINE)


def sources():
    """Returns the text of all sources, in which string literals are not divided among lines."""
    listed = subprocess.run(
        ["git", "ls-files", *SOURCES], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    text = "\n".join(
        (ROOT / name).read_text(encoding="utf-8") for name in listed if (ROOT / name).is_file()
    )
    return re.sub(r'"\s*\n\s*f?"', "", text).replace('\\"', '"')


def parts(message):
    return [part.strip() for part in message.split("…") if part.strip()]


def missing_in(text, message):
    """Returns the first part of a message that does not follow the ones before it, or None."""
    position = 0
    for part in parts(message):
        position = text.find(part, position)
        if position < 0:
            return part
    return None


def main():
    own = (ROOT / PAGE).read_text(encoding="utf-8").split(OTHERS)[0]
    entries = ENTRY.findall(own)
    code = sources()
    wrong = []
    if len(entries) != len(HEADING.findall(own)):
        wrong.append("a heading is no message in backquotes that an example follows")
    for message, example in entries:
        wrong += [f"no source has {part!r}" for part in parts(message) if part not in code]
        if missing_in(example, message):
            wrong.append(f"the example of {message!r} is another message")
    if wrong:
        print("\n".join(f"{PAGE}: {what}" for what in wrong), file=sys.stderr)
        return 1
    print(f"messages: {len(entries)} of {PAGE} are in the sources")
    return 0


if __name__ == "__main__":
    sys.exit(main())
