#!/usr/bin/env python3
"""Finds functions of one source that stand in for shared ones in another.

  hidden_names_test.py REPOSITORY

Sources of a folder are compiled together (CMAKE_UNITY_BUILD), so what one of them has in an anonymous
namespace is seen by those behind it.  If it has the name of a function that a header declares, calls in
other sources may choose it without a word: a function of an inner namespace hides those of the outer ones,
and in the same namespace the better match is chosen.

- An anonymous function must not have the name of a function that a header declares in a namespace around
  it, unless no source of the folder includes that header, it takes another number of arguments, or its
  first argument is of another kind.
"""
import collections
import pathlib
import re
import sys
import tempfile

FOLDERS = ["vgpu", "harness", "campaign", "fuzz", "cli", "model", "properties"]
OPENS = re.compile(r"^(?:inline )?namespace(?: ([\w:]+))? \{$")
CLOSES = re.compile(r"^\}  // namespace(?: ([\w:]+))?$")
# Code is formatted, so what begins in the first column is a declaration of a namespace's scope.
DECLARES = re.compile(r"^(?!using |#|//|typedef |class |struct |enum |union |return |extern |TEST|EXPECT|namespace |"
                      r"template |static_assert|friend )(?:\[\[nodiscard\]\] )?(?:(?:inline|constexpr|static|const) )*"
                      r"[A-Za-z_][\w:]*(?:<[^;{}()]*>)?(?: const)?[ *&]+(\w+)\(")


def arguments_of(text, begin):
    """The arguments of a declaration whose parenthesis is at `begin`, without their names."""
    depth, part, parts = 0, "", []
    for c in text[begin:]:
        if c in "(<[{":
            depth += 1
        if c in ")>]}":
            depth -= 1
        if depth == 0:
            break
        if c == "," and depth == 1:
            parts.append(part)
            part = ""
        elif not (c == "(" and depth == 1):
            part += c
    parts.append(part)
    return [re.sub(r"\s+", " ", one).strip() for one in parts if one.strip()]


def kind_of(argument):
    """What an argument's type is, as far as conversions go: all texts are alike, and all numbers."""
    word = re.sub(r"\b(?:const|std|volatile)\b|::|[&*]", " ", argument.split("=")[0])
    words = word.split()
    name = words[0] if words else ""
    if "string" in argument.split("<")[0] or "char*" in argument.replace(" ", ""):
        return "text"
    if re.match(r"(?:u?int\d*_t|int|unsigned|long|size_t|bool|double|float|ptrdiff_t|char)$", name):
        return "number"
    return name.split("<")[0]


def functions_of(path):
    """(namespace, is anonymous, name, arguments, line) of the functions of a file's namespaces."""
    text = path.read_text()
    scopes, found, at = [], [], 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        begin, at = at, at + len(line)
        line = line.rstrip("\n")
        if opened := OPENS.match(line):
            scopes.append(opened.group(1))
        elif CLOSES.match(line) and scopes:
            scopes.pop()
        elif declared := DECLARES.match(line):
            space = "::".join(scope for scope in scopes if scope)
            found.append((space, None in scopes, declared.group(1),
                          arguments_of(text, begin + declared.end() - 1), number))
    return found


def is_alike(mine, shared):
    return len(mine) == len(shared) and (not mine or kind_of(mine[0]) == kind_of(shared[0]))


class Includes:
    """What the sources of a folder include, themselves and through others."""

    def __init__(self, root):
        self.root, self.of_file, self.of_folder = root, {}, {}

    def direct(self, path):
        if path not in self.of_file:
            text = path.read_text() if path.is_file() else ""
            names = re.findall(r'^#include "([^"]+\.hpp)"', text, re.MULTILINE)
            self.of_file[path] = {self.root / name for name in names}
        return self.of_file[path]

    def of(self, folder):
        if folder not in self.of_folder:
            seen, open_ = set(), list(folder.glob("*.cpp"))
            while open_:
                for header in self.direct(open_.pop()) - seen:
                    seen.add(header)
                    open_.append(header)
            self.of_folder[folder] = seen
        return self.of_folder[folder]


def problems_of(root):
    includes = Includes(root)
    shared = collections.defaultdict(list)
    for folder in FOLDERS:
        for header in sorted((root / folder).rglob("*.hpp")):
            for space, is_anonymous, name, arguments, line in functions_of(header):
                if not is_anonymous:
                    shared[name].append((space, arguments, header, line))
    problems = []
    for folder in FOLDERS:
        for source in sorted((root / folder).rglob("*.cpp")):
            if source.name.endswith("_test.cpp"):
                continue
            for space, is_anonymous, name, arguments, line in functions_of(source):
                if not is_anonymous:
                    continue
                for around, theirs, header, at in shared[name]:
                    is_around = space == around or space.startswith(around + "::") or not around
                    if is_around and is_alike(arguments, theirs) and header in includes.of(source.parent):
                        problems.append(
                            f"{source.relative_to(root)}:{line}: {name}() of this file alone hides {around}::{name}() "
                            f"of {header.relative_to(root)}:{at}: use that, or another name")
    return problems


def check_itself():
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        (root / "cli").mkdir()
        (root / "cli/text.hpp").write_text("namespace a {\nstd::string trimmed(std::string_view text);\n"
                                           "int size_of(const Thing& thing);\n}  // namespace a\n")
        (root / "cli/two.cpp").write_text('#include "cli/text.hpp"\n')
        (root / "cli/one.cpp").write_text("namespace a::b {\nnamespace {\nstd::string trimmed(const std::string& text) {\n"
                                          "}\nint size_of(const Other& other) {\n}\n}  // namespace\n}  // namespace a::b\n")
        found = problems_of(root)
        assert len(found) == 1 and "cli/one.cpp:3: trimmed()" in found[0], found


def main():
    check_itself()
    problems = problems_of(pathlib.Path(sys.argv[1]).resolve())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
