#!/usr/bin/env python3
"""Checks that the pages docs/*/adding-a-*.md are correct.

  places_test.py REPOSITORY

A page shows all places that one new thing touches, by an example in the tree.
- Every path in backticks exists.  NAME in a path stands for any name.
- A block of code under a line "`PATH`:" is in that file, word for word; "..." leaves lines out.
- The table "| file | lines | what |" names every file that contains the example's identifier, with
  the number of lines, outside its own files, comments, tests, docs and recorded cases.
- No page is longer than LINES_MAX lines.
Further, no shared code names a strategy, a checker or a command instead of using the rows, and documents list all
rows.  The test also tests itself: a page with a false statement must be found.
"""
import fnmatch
import functools
import pathlib
import re
import sys

LINES_MAX = 110
SOURCES = {".cpp", ".hpp", ".cu", ".cuh", ".def", ".in", ".inc", ".txt", ".cmake", ".py", ".sh"}
TESTS = ["*_test.*", "*_testing.*", "*/testing/*", "*/testdata/*", "*_corpus/*", "ci/*", "docs/*", "fuzz/cases/*",
         "examples/*", "vgpu/litmus/*", "vgpu/conformance/vectors/*", "vgpu/cudart/programs/*",
         "model/compare/*"]
TOP = ["CMakeLists.txt", "bench", "campaign", "cli", "cmake", "fuzz", "harness", "kernels", "model",
       "properties", "reference", "vgpu"]

# page: the example's identifier, and its own files
EXAMPLES = {
    "adding-a-strategy.md": (r"\bpct(?![a-z])|Pct", ("vgpu/schedule/pct.hpp", "vgpu/schedule/pct.cpp")),
    "adding-a-checker.md": (r"lifetime|Lifetime", ("vgpu/check/lifetime.hpp", "vgpu/check/lifetime.cpp")),
    "adding-a-command.md": (r"command_list|ListCommand|add_list_to", ("cli/command_list.cpp",)),
    "adding-a-runtime-function.md": (r"\bcudaMemGetInfo\b", ()),
    "adding-an-instruction.md": (r"\bbrev(?:_\b|\b)|\bBrev\b", ()),
}
# Its example is not in the tree, because the reader writes it.
WRITTEN_BY_THE_READER = {"adding-a-kernel.md": "reverse"}


@functools.cache
def files_below(root):
    tops = [root / top for top in TOP]
    return [file for top in tops for file in ([top] if top.is_file() else sorted(top.rglob("*")))
            if file.suffix in SOURCES and file.is_file()]


@functools.cache
def code_of(path):
    """The code without comments, which do not count as places."""
    text = path.read_text(errors="replace")
    mark = "#" if path.suffix in {".txt", ".cmake", ".py", ".sh"} else "//"
    return [line.split(mark)[0] for line in text.splitlines()]


@functools.cache
def is_test(name):
    return any(fnmatch.fnmatch(name, each) for each in TESTS)


@functools.cache
def places(root, identifier, own):
    found = {}
    for path in files_below(root):
        name = path.relative_to(root).as_posix()
        if name in own or is_test(name):
            continue
        lines = sum(1 for line in code_of(path) if re.search(identifier, line))
        if lines:
            found[name] = lines
    return found


def named_paths(text):
    """Text in backticks outside blocks of code that looks like a path."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for token in re.findall(r"`([^`\s]+)`", prose):
        if re.fullmatch(r"[A-Za-z0-9_.*-]+(/[A-Za-z0-9_.*-]+)+/?", token):
            yield token


def quotes(text):
    return re.findall(r"^`([^`]+)`:\n\n```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def errors_of(root, page, text):
    allowed = WRITTEN_BY_THE_READER.get(page)
    if len(text.splitlines()) > LINES_MAX and not allowed:
        yield f"has {len(text.splitlines())} lines, {LINES_MAX} at most expected"
    for path in named_paths(text):
        if allowed and allowed in path or path.startswith("build/"):
            continue
        if not any(root.glob(path.replace("NAME", "*").rstrip("/"))):
            yield f"names {path}, which does not exist"
    for path, block in quotes(text):
        if allowed and allowed in path:
            continue
        whole = (root / path).read_text() if (root / path).is_file() else ""
        for part in re.split(r"^\s*(?://|#) \.\.\.\n", block, flags=re.MULTILINE):
            if part not in whole:
                yield f"quotes what is not in {path}:\n{part}"
    if page not in EXAMPLES:
        return
    identifier, own = EXAMPLES[page]
    counted = places(root, identifier, own)
    told = {path: int(lines) for path, lines in re.findall(r"^\| `([^`]+)` \| (\d+) \|", text, re.MULTILINE)}
    for path in sorted(counted.keys() | told.keys()):
        if counted.get(path, 0) != told.get(path, 0):
            yield f"says {told.get(path, 0)} lines of {path}, which has {counted.get(path, 0)}"
    for path in own:
        if f"`{path}`" not in text:
            yield f"does not name {path}, a file of its example"


def errors_of_names(root):
    """Shared code that contains a name that only its row should contain."""
    for kind, rows, row, form, elsewhere, names_min in (
            ("command", "cli/command_*.cpp", r'\.name = "([^"]+)"', '"%s"', r"cli/(?!command_)[^/]*", 10),
            ("strategy", "vgpu/schedule/strategies.cpp", r'\.name = "(?!default)([^"]+)"', '"%s"',
             r"(harness|campaign|fuzz|cli|bench|vgpu/cudart)/.*", 3),
            ("checker", "vgpu/check/checkers.def", r"^CHECKER\((\w+),", "checkers.%s",
             r"(harness|campaign|fuzz|cli|vgpu/cudart)/.*", 5)):
        names = [name for path in root.glob(rows)
                 for name in re.findall(row, path.read_text(), re.MULTILINE)]
        if len(names) < names_min:
            yield f"{rows} names only {len(names)}"
        for path in files_below(root):
            name = path.relative_to(root).as_posix()
            if path.suffix not in {".cpp", ".hpp"} or is_test(name) or not re.fullmatch(elsewhere, name):
                continue
            text = "\n".join(code_of(path))
            yield from (f"{name} knows the {kind} {each}" for each in names
                        if re.search(re.escape(form % each) + r"(?!\w)", text))


def errors_of_lists(root):
    """Hand-written lists must contain all rows."""
    for rows, row, lists in (
            ("vgpu/check/finding_kinds.def", r'^FINDING_KIND\(\w+, "([^"]+)"', {
                "README.md": "`%s`", "docs/use/report.schema.json": '"%s"'}),
            ("vgpu/check/checkers.def", r"^(?:OPTIONAL_)?CHECKER\((\w+),", {"docs/use/exec-reference.md": "| `%s` |"}),
            ("cli/command_*.cpp", r'\.name = "(?!gpu-worker)([^"]+)"', {"README.md": "`%s"})):  # that one is hidden
        names = [name for path in sorted(root.glob(rows))
                 for name in re.findall(row, path.read_text(), re.MULTILINE)]
        if len(names) < 5:
            yield f"{rows} has only {len(names)} rows"
        for path, form in lists.items():
            text = (root / path).read_text()
            for name in names:
                if not re.search(re.escape(form % name) + r"(?![\w-])", text):
                    yield f"{path} does not list {name} of {rows}"


def lies(text):
    """The page with one false statement, for each statement."""
    for row in re.findall(r"^\| `[^`]+` \| \d+ \|.*\n", text, re.MULTILINE):
        yield text.replace(row, "")
        yield text.replace(row, re.sub(r"\| \d+ \|", "| 99 |", row))
        yield text.replace(row, row.replace("| `", "| `no/such/"))
    for _, block in quotes(text):
        yield text.replace(block, "not there\n" + block)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = sorted((root / "docs").glob("*/adding-a*.md"))
    told = [f"{page.relative_to(root)} {error}" for page in pages
            for error in errors_of(root, page.name, page.read_text())]
    for page in pages:
        text = page.read_text()
        told += [f"{page.relative_to(root)} could lie so:\n{lie}" for lie in lies(text)
                 if page.name in EXAMPLES and not any(errors_of(root, page.name, lie))]
    told += [f"docs/develop/{page} is missing" for page in EXAMPLES if not (root / "docs" / "develop" / page).is_file()]
    told += errors_of_names(root)
    told += errors_of_lists(root)
    print("\n".join(told) or f"{len(pages)} pages name every place")
    return 1 if told else 0


sys.exit(main())
