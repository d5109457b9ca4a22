#!/usr/bin/env python3
"""Makes the site of the documentation in build/docs/site: `make docs`.

The pages are those of the repository. They are copied to build/docs/pages, where links to sources
become links to pages that show them. README's list of documents is the navigation. Doxygen makes
the reference of the headers, and python_reference.py that of the Python packages. It fails where
MkDocs or Doxygen warns.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
import check_links  # noqa: E402

OUT = ROOT / "build/docs"
PAGES = OUT / "pages"
LANGUAGES = {".h": "cpp", ".hpp": "cpp", ".c": "c", ".cpp": "cpp", ".py": "python", ".fbs": "idl"}
PICTURES = {".png", ".svg"}
TARGET = re.compile(r"(?<=\]\()[^()\s]+(?=\))")


class Stage:
    """Copies pages, and writes one for each source and folder that a page links to."""

    def __init__(self):
        self.tree = check_links.Tree()
        self.written = set()

    def write_all(self):
        for name in self.tree.pages:
            text = (ROOT / name).read_text(encoding="utf-8")
            prose = {number for number, _ in check_links.prose(text)}
            lines = [
                self.with_targets(name, line) if number in prose else line
                for number, line in enumerate(text.splitlines(), 1)
            ]
            self.write(name, "\n".join(lines) + "\n")

    def with_targets(self, page, line):
        return TARGET.sub(lambda link: self.target_of(page, link[0]), line)

    def target_of(self, page, target):
        """Returns what a link of a page leads to on the site."""
        if check_links.SCHEME.match(target) or target.startswith("#"):
            return target
        path, fragment = self.tree.resolve(page, target)
        if path in self.tree.folders:
            path = self.page_of_folder(path)
        elif pathlib.PurePath(path).suffix in PICTURES:
            self.copy(path)
        elif path not in self.tree.pages:
            path = self.page_of_source(path)
        relative = os.path.relpath(path, pathlib.PurePath(page).parent)
        return f"{relative}#{fragment}" if fragment else relative

    def page_of_folder(self, path):
        page = f"{path}/README.md"
        if page not in self.tree.pages:
            files = sorted(name for name in self.tree.files if name.startswith(f"{path}/"))
            self.write(page, f"# {path}\n\n" + "".join(f"- `{name}`\n" for name in files))
        return page

    def page_of_source(self, path):
        page = f"{path}.md"
        if page not in self.written:
            text = (ROOT / path).read_text(encoding="utf-8")
            language = LANGUAGES.get(pathlib.PurePath(path).suffix, "text")
            self.write(page, f"# {path}\n\n````{language}\n{text}````\n")
        return page

    def copy(self, name):
        (PAGES / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, PAGES / name)

    def write(self, name, text):
        self.written.add(name)
        path = PAGES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def navigation(self):
        """Returns the sections of README's list of documents with their pages, and the samples."""
        sections = [{"Millrace": ["README.md", "CHANGELOG.md"]}]
        samples = []
        is_list = False
        for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines():
            heading = re.match(r"(##+) (.*)", line)
            if heading and heading[1] == "##":
                is_list = heading[2] == "Documents"
            elif heading and is_list:
                sections.append({heading[2]: []})
            elif line.startswith("| [samples/"):
                samples += self.entries("README.md", TARGET.search(line)[0])
            elif is_list and line.startswith("| ["):
                pages = sections[-1][list(sections[-1])[0]]
                for link in TARGET.findall(line.split("|")[1]):
                    pages += self.entries("README.md", link)
        sections.append({"Samples": samples})
        return [section for section in sections if all(section.values())]

    def entries(self, page, target):
        """Returns a page of the navigation, followed by those in the folder of its name."""
        path = self.tree.resolve(page, self.target_of(page, target))[0]
        folder = path.removesuffix(".md") + "/"
        below = [name for name in self.tree.pages if name.startswith(folder)]
        return [path, *below]


def run(command, **options):
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}make_site: failed: {' '.join(command)}")
    return done.stdout


def make_reference_of_headers():
    config = OUT / "Doxyfile"
    config.write_text(f"@INCLUDE = {HERE}/Doxyfile\nOUTPUT_DIRECTORY = {PAGES}/reference\n")
    (PAGES / "reference").mkdir(parents=True, exist_ok=True)
    run(["doxygen", str(config)])


def make_reference_of_python(build):
    packages = ROOT / build / "python"
    if not list(packages.glob("millrace/_core.*.so")):
        sys.exit(f"make_site: {packages} has no Python package: build the target millrace_python")
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    text = run(["/usr/bin/python3", str(HERE / "python_reference.py")], env=environment)
    (PAGES / "docs/python-reference.md").write_text(text, encoding="utf-8")


def make_site(navigation):
    config = OUT / "mkdocs.yml"
    config.write_text(
        f"INHERIT: {HERE}/mkdocs.yml\ndocs_dir: {PAGES}\nsite_dir: {OUT}/site\n"
        f"nav: {json.dumps(navigation)}\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    command = ["/usr/bin/mkdocs", "build", "--quiet", "--strict", "--clean", "-f", str(config)]
    run(command, env=environment)


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build/release"
    shutil.rmtree(PAGES, ignore_errors=True)
    stage = Stage()
    stage.write_all()
    navigation = stage.navigation()
    make_reference_of_headers()
    make_reference_of_python(build)
    reference = [{"Headers": "reference/cpp/index.html"}, {"Python": "docs/python-reference.md"}]
    navigation.append({"Reference": reference})
    make_site(navigation)
    print("build/docs/site/index.html")
    print("with the search: python3 -m http.server --directory build/docs/site")


if __name__ == "__main__":
    main()
