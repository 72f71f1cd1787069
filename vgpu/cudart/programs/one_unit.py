"""Several programs as one translation unit, each in a namespace of its name: nvcc reads the toolkit's headers
once, and instantiates a template once.  `main` of such a namespace is an ordinary function, so it returns a
value.  The first argument of the unit says whose runs, and the others are that program's; without one, the
names of the programs are printed.
"""

import dataclasses
import pathlib
import re

HEADERS = re.compile(r'^#include (<.*>|".*")$', re.MULTILINE)
MACROS = re.compile(r"^#define (\w+)", re.MULTILINE)
CALLS = """\
inline int call(int (*program)(), int, char**) { return program(); }
inline int call(int (*program)(int, char**), int count, char** arguments) {
  return program(count, arguments);
}"""


@dataclasses.dataclass
class Part:
    """A program, built with these macros; parts of one program have different names."""

    name: str
    path: pathlib.Path
    text: str
    macros: tuple = ()  # "NAME" or "NAME=VALUE"
    is_listed: bool = True  # among the names that are printed

    def headers(self):
        text = self.text
        for macro in self.macros:
            name = macro.partition("=")[0]
            text = re.sub(rf"^#ifndef {name}\b.*?^#endif", "", text, flags=re.MULTILINE | re.DOTALL)
        return HEADERS.findall(text)

    def lines(self):
        own = [macro.partition("=") for macro in self.macros]
        return [*(f"#define {name} {value if equals else 1}" for name, equals, value in own),
                f"namespace {self.name} {{", f'#include "{self.path}"', "}",
                *(f"#undef {name}" for name in dict.fromkeys(
                    [*(name for name, *_ in own), *MACROS.findall(self.text)]))]


def unit(parts):
    """The text.  Headers are read before all programs, outside of their namespaces."""
    headers = dict.fromkeys(header for part in parts for header in part.headers())
    names = " ".join(part.name for part in parts if part.is_listed)
    return "\n".join([
        *(f"#if __has_include({each})\n#include {each}\n#endif" for each in headers),
        "#include <cstdio>", "#include <cstring>",
        # In a namespace of their own, names of programs are nobody else's.
        "namespace programs {", *(line for part in parts for line in part.lines()), "}", CALLS,
        "int main(int count, char** arguments) {",
        f'  if (count < 2) return std::puts("{names}") < 0;',
        *(f'  if (!std::strcmp(arguments[1], "{part.name}"))\n'
          f"    return call(programs::{part.name}::main, count - 1, arguments + 1);" for part in parts),
        "  return 3;", "}", ""])
