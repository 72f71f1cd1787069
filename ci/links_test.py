#!/usr/bin/env python3
"""The documents hold together.

  links_test.py REPOSITORY

- Every relative link of a page leads to a file, and its fragment to a heading there.
- Every page, schema and table of docs/ that a source, a script or a page names exists.
- docs/README.md leads to every page of docs/use/ and docs/develop/.
- Every file, folder and function that a page of docs/develop/ has in backticks exists; of docs/use/, every file and
  folder of ours.
Errors are planted for each of the four, and must be found.
"""
import functools
import pathlib
import re
import sys
import tempfile

# Where documents are named.
TOP = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "bench", "campaign", "ci", "cli", "cmake", "examples", "fuzz",
       "harness", "kernels", "model", "properties", "reference", "vgpu"]
SOURCES = {".md", ".cpp", ".hpp", ".cu", ".cuh", ".def", ".txt", ".cmake", ".py", ".json", ".yml", ".gp", ""}
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
NAMED = re.compile(r"(?<![\w-])docs/(?:use|develop)/[\w./-]+\.(?:md|txt|json|svg)\b|(?<![\w-])docs/[\w-]+\.md\b")
PLACEHOLDERS = {"docs/develop/verdicts/SUITE.txt"}
OF_LIBRARIES = {"CLI::IsMember", "DeviceHistogram::HistogramEven"}
WRITTEN_BY_THE_READER = "/reverse."


def prose_of(text):
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)


@functools.lru_cache(maxsize=None)
def anchors_of(page):
    """The fragments of a page's headings, as the services that show Markdown make them."""
    anchors, seen = set(), {}
    for heading in re.findall(r"^#+ (.*)$", prose_of(page.read_text()), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        seen[anchor] = seen.get(anchor, -1) + 1
        anchors.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
    return anchors


def files_below(root):
    for top in TOP:
        path = root / top
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.suffix in SOURCES and file.is_file() and file.name != "links_test.py":
                yield file


def errors_of_links(root, page):
    for target, fragment in LINK.findall(prose_of(page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        file = (page.parent / target).resolve() if target else page
        if not file.exists():
            yield f"{page.relative_to(root)} links to {target}, which does not exist"
        elif fragment and file.suffix == ".md" and fragment not in anchors_of(file):
            yield f"{page.relative_to(root)} links to {target}#{fragment}, and there is no such heading"


def errors_of_names(root, file):
    try:
        text = file.read_text()
    except UnicodeDecodeError:
        return
    for name in sorted(set(NAMED.findall(text)) - PLACEHOLDERS):
        if not (root / name).is_file():
            yield f"{file.relative_to(root)} names {name}, which does not exist"


def errors_of_index(root):
    index = root / "docs" / "README.md"
    listed = {(index.parent / target).resolve() for target, _ in LINK.findall(index.read_text())}
    for page in sorted((root / "docs").glob("*/*.md")):
        if page.resolve() not in listed:
            yield f"docs/README.md does not list {page.relative_to(root)}"


def is_path(token, paths):
    return token in paths or any(path.endswith("/" + token) for path in paths)


def errors_of_code_names(root):
    """What the pages call by a name that the code does not have (any more)."""
    pages = sorted((root / "docs").glob("*/*.md"))
    paths = {path.relative_to(root).as_posix() for top in TOP for path in [root / top, *(root / top).rglob("*")]}
    words, members = set(), {}
    for file in files_below(root):
        if file.suffix not in {".cpp", ".hpp", ".py"}:
            continue
        code = re.sub(r"//.*", "", file.read_text(errors="replace"))
        here = set(re.findall(r"\w+", code))
        words |= here
        for defined in re.findall(r"\b(?:class|struct|namespace) (\w+)[^;(){}]*\{", code):
            members.setdefault(defined, set()).update(here)
    for page in pages:
        for token in re.findall(r"`([^`\s]+)`", prose_of(page.read_text())):
            name = token.rstrip("/")
            # Pages for users also name files of theirs, and of libraries.
            if page.parent.name == "use" and (name.split("/")[0] not in TOP or WRITTEN_BY_THE_READER in name):
                continue
            if member := re.fullmatch(r"([A-Z]\w*)::(\w+)(?:\(\))?", token):
                is_there = token in OF_LIBRARIES or member.group(2) in members.get(member.group(1), ())
            elif function := re.fullmatch(r"([a-z]\w*)\(\)", token):
                is_there = function.group(1) in words
            elif re.fullmatch(r"[a-z_0-9/]+\.(?:hpp|cpp|def|cu|py)", token) or re.fullmatch(r"[a-z_]+(?:/[a-z_]+)+", name):
                is_there = name.startswith("build/") or is_path(name, paths)
            else:
                continue
            if not is_there:
                yield f"{page.relative_to(root)} names {token}, which is not in the code"


def errors(root):
    for file in files_below(root):
        if file.suffix == ".md":
            yield from errors_of_links(root, file)
        yield from errors_of_names(root, file)
    yield from errors_of_index(root)
    yield from errors_of_code_names(root)


def planted_errors_are_found():
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory).resolve()
        for folder in ("docs/use", "docs/develop", "vgpu/room"):
            (root / folder).mkdir(parents=True)
        gone = "docs/use/gone" + ".md"
        (root / "docs" / "README.md").write_text("[a](use/a.md) [b](use/no.md) [c](develop/c.md)\n")
        (root / "docs" / "use" / "a.md").write_text("# One, two\n[x](#one-two) [y](#three)\n")
        (root / "docs" / "use" / "b.md").write_text(f"{gone}\n```\n[z](code.md)\n```\n")
        (root / "docs" / "develop" / "c.md").write_text(
            "`room/a.cpp` `vgpu/room` `A::f` `f()`, `b.cpp` `vgpu/old` `A::g` `g()`\n")
        (root / "vgpu" / "room" / "a.cpp").write_text("class A { void f(); };  // g() is no more\n")
        return list(errors(root)) == [
            "docs/README.md links to use/no.md, which does not exist",
            "docs/use/a.md links to #three, and there is no such heading",
            f"docs/use/b.md names {gone}, which does not exist",
            "docs/README.md does not list docs/use/b.md",
            *(f"docs/develop/c.md names {name}, which is not in the code" for name in
              ("b.cpp", "vgpu/old", "A::g", "g()"))]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found = list(errors(root))
    if not planted_errors_are_found():
        found.append("links_test.py does not find the errors that are planted for it")
    print("\n".join(found) or "every link leads somewhere")
    return 1 if found else 0


sys.exit(main())
