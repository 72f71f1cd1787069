#!/usr/bin/env python3
"""The documents hold together.

  links_test.py REPOSITORY

- Every relative link of a page leads to a file, and its fragment to a heading there.
- Every page, schema and table of docs/ that a source, a script or a page names exists.
- docs/README.md leads to every page of docs/use/ and docs/develop/.
Errors are planted for each of the three, and must be found.
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


def errors(root):
    for file in files_below(root):
        if file.suffix == ".md":
            yield from errors_of_links(root, file)
        yield from errors_of_names(root, file)
    yield from errors_of_index(root)


def planted_errors_are_found():
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory).resolve()
        (root / "docs" / "use").mkdir(parents=True)
        gone = "docs/use/gone" + ".md"
        (root / "docs" / "README.md").write_text("[a](use/a.md) [b](use/no.md)\n")
        (root / "docs" / "use" / "a.md").write_text("# One, two\n[x](#one-two) [y](#three)\n")
        (root / "docs" / "use" / "b.md").write_text(f"{gone}\n```\n[z](code.md)\n```\n")
        return list(errors(root)) == [
            "docs/README.md links to use/no.md, which does not exist",
            "docs/use/a.md links to #three, and there is no such heading",
            f"docs/use/b.md names {gone}, which does not exist",
            "docs/README.md does not list docs/use/b.md"]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found = list(errors(root))
    if not planted_errors_are_found():
        found.append("links_test.py does not find the errors that are planted for it")
    print("\n".join(found) or "every link leads somewhere")
    return 1 if found else 0


sys.exit(main())
