#!/usr/bin/env python3
"""Prints a page with the classes and functions of the Python packages, from their docstrings.

The packages must be importable (PYTHONPATH=build/release/python). The extension module has the
signatures of its stub, which has the types.
"""
import ast
import importlib
import inspect
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUB = ROOT / "python/millrace/_core.pyi"
COLUMNS = re.compile(r"(\S(?:.*?\S)?) {2,}(\S.*)$")


def signatures_of_stub():
    """Returns the signatures in the stub by class and name."""
    found = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    found[node.name, method.name] = signature_text(method)
    return found


def signature_text(function):
    """Returns the arguments and the result of a function of the stub."""
    arguments = function.args
    first = arguments.posonlyargs or arguments.args
    if first and first[0].arg == "self":
        first.pop(0)
    result = ast.unparse(function.returns) if function.returns else "None"
    if any(ast.unparse(decorator) == "property" for decorator in function.decorator_list):
        return f": {result}"
    return f"({ast.unparse(arguments)}) -> {result}"


class Unquoted(str):
    """The text of an annotation, which a signature prints without quotes."""

    __repr__ = str.__str__


def signature_of(function):
    """Returns the signature of a function of Python."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [
        parameter.replace(annotation=unquoted(parameter.annotation))
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]
    return str(
        signature.replace(
            parameters=parameters, return_annotation=unquoted(signature.return_annotation)
        )
    )


def unquoted(annotation):
    return Unquoted(annotation) if isinstance(annotation, str) else annotation


def wrapped(signature):
    """Returns a long signature with an argument in each line."""
    if len(signature) <= 100:
        return signature
    lines, depth, quote = [""], 0, ""
    for letter in signature:
        if letter in "'\"":
            quote = "" if quote else letter
        if not quote:
            depth += (letter in "([{") - (letter in ")]}")
            if depth == 0 and letter == ")":
                lines.append("")
        lines[-1] += letter
        if not quote and depth == 1 and letter in ",(":
            lines.append("    " if letter == "(" else "   ")
    return "\n".join(line.rstrip() for line in lines)


def paragraphs(text):
    """Yields the paragraphs of a docstring as lists of lines."""
    lines = []
    for line in text.splitlines():
        if line.strip():
            lines.append(line)
        elif lines:
            yield lines
            lines = []
    if lines:
        yield lines


def items_of(lines):
    """Returns the items of a list of two columns, or None if the lines are not one."""
    items = []
    column = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        match = COLUMNS.match(line) if indent == 0 else None
        if match and column in (None, match.start(2)):
            column = match.start(2)
            items.append([match[1], match[2]])
        elif items and indent == column:
            items[-1][1] += " " + line.strip()
        else:
            return None
    return items


def markdown(text):
    """Returns a docstring as Markdown: two columns become a list, and indented lines are code."""
    result = []
    for lines in paragraphs(text):
        items = items_of(lines)
        if items:
            result.append("\n".join(f"- `{name}`: {meaning}" for name, meaning in items))
        elif lines[0].startswith("    "):
            result.append("\n".join(["```python", *(line[4:] for line in lines), "```"]))
        else:
            result.append("\n".join(lines))
    return "\n\n".join(result)


def documentation(thing):
    """Returns the docstring as Markdown, without the signature that pybind11 puts first."""
    return markdown(re.sub(r"^\w+\(self: .*\n+", "", inspect.getdoc(thing) or ""))


def initialiser_of(cls):
    """Returns the __init__ of a class, or None if the class has none that says something."""
    initialiser = cls.__dict__.get("__init__")
    says_something = initialiser and initialiser.__doc__ != object.__init__.__doc__
    return initialiser if says_something else None


class Printer:
    def __init__(self):
        self.stub = signatures_of_stub()

    def function(self, name, function, level):
        print(f"{'#' * level} {name}\n\n```python\n{wrapped(name + signature_of(function))}\n```\n")
        print(documentation(function) + "\n")

    def member(self, owner, name, member):
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        signature = self.stub.get((owner, name))
        if signature is None:
            signature = "" if isinstance(member, property) else signature_of(member)
        text = documentation(member).replace("\n", "\n    ")
        call = name if name != "__call__" else owner.lower()
        print(f"- `{call}{signature}`" + (f"\n\n    {text}" if text else "") + "\n")

    def class_(self, name, cls, level):
        print(f"{'#' * level} {name}\n\n{documentation(cls)}\n")
        if issubclass(cls, BaseException):
            return
        initialiser = initialiser_of(cls)
        signature = self.stub.get((name, "__init__"))
        if signature or inspect.isfunction(initialiser):
            signature = (signature or signature_of(initialiser)).removesuffix(" -> None")
            print(f"```python\n{wrapped(name + signature)}\n```\n")
            print(documentation(initialiser) + "\n" if initialiser.__doc__ else "")
        for key, member in cls.__dict__.items():
            is_public = not key.startswith("_") or key in ("__call__", "__await__")
            described = (property, staticmethod, classmethod)
            if is_public and (callable(member) or isinstance(member, described)):
                self.member(name, key, member)

    def all_of(self, module, names, level=3):
        for name in names:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                self.class_(name, thing, level)
            elif callable(thing):
                self.function(name, thing, level)


def defined_in(module):
    """Returns the public names that a module defines itself, in their order there."""
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    ]


def is_exception(thing):
    return inspect.isclass(thing) and issubclass(thing, Exception)


def classes_in(module):
    return [name for name in defined_in(module) if inspect.isclass(getattr(module, name))]


def main():
    millrace = importlib.import_module("millrace")
    printer = Printer()
    public = dir(millrace)
    errors = [name for name in public if is_exception(vars(millrace).get(name))]
    print("# Reference of the Python packages\n")
    print("Signatures and docstrings. [python.md](python.md) and")
    print("[python-compiler.md](python-compiler.md) lead through the packages.\n")
    print("## millrace\n")
    names = [name for name in public if name not in errors and not name.startswith("_")]
    classes = [name for name in names if inspect.isclass(getattr(millrace, name))]
    printer.all_of(millrace, [name for name in names if name not in classes] + classes)
    print("## What the functions return\n")
    for name in ("_model_info", "_archive", "_measure"):
        module = importlib.import_module(f"millrace.{name}")
        printer.all_of(module, [n for n in classes_in(module) if n not in public])
    print("## Exceptions of millrace\n")
    printer.all_of(millrace, errors)
    ort = importlib.import_module("millrace.ort")
    print(f"## millrace.ort\n\n{documentation(ort)}\n")
    printer.all_of(ort, defined_in(ort))
    nrtpy = importlib.import_module("nrtpy")
    print(f"## nrtpy\n\n{documentation(nrtpy)}\n")
    printer.all_of(nrtpy, nrtpy.__all__)


if __name__ == "__main__":
    sys.exit(main())
