#!/usr/bin/env python3
"""The manual page is well formed and has the text of --help.

  manual_test.py MAN WARPCHECK PAGE

man renders it without a warning, in narrow terminals too; the built page is the one that the program prints; and every
command of --help has a section with its options and examples.
"""
import os
import re
import subprocess
import sys


def check(condition, what, shown=""):
    if not condition:
        sys.exit(f"{what}\n{shown}")


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    check(done.returncode == 0, f"{command}: status {done.returncode}", done.stderr)
    return done


def rendered(man, page, columns):
    shown = run(man, "--warnings", "--encoding=UTF-8", "--no-hyphenation", "--no-justification",
                "--local-file", page, LC_ALL="C.UTF-8", MANWIDTH=str(columns), MANPAGER="cat")
    check(shown.stderr == "", f"man warns at {columns} columns", shown.stderr)
    return shown.stdout


def sections_of(text):
    """Of COMMANDS: name -> text."""
    commands = re.search(r"^COMMANDS\n(.*?)^\S", text, re.DOTALL | re.MULTILINE).group(1)
    parts = re.split(r"^   (\S.*)\n", commands, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def words(text):
    return re.sub(r"\s+", " ", text)


def commands_of(help_text):
    listed = help_text.partition("Subcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z][a-z-]*) ", listed, re.MULTILINE)


def main():
    man, program, page = sys.argv[1:4]
    with open(page, encoding="utf-8") as file:
        check(file.read() == run(program, "__manual").stdout, "the built page is an old one")
    for columns in (60, 80):
        rendered(man, page, columns)
    text = rendered(man, page, 2000)  # one line for each paragraph, so that no word is broken
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT"):
        check(f"\n{section}\n" in text, f"no section {section}", text)
    sections = sections_of(text)
    names = commands_of(run(program, "--help").stdout)
    check(len(names) >= 11, "commands of --help", names)
    for name in list(names):
        names += [f"{name} {inner}" for inner in commands_of(run(program, name, "--help").stdout)]
    check(sorted(sections) == sorted(names), "sections", (sorted(sections), sorted(names)))
    for name, section in sections.items():
        help_text = run(program, *name.split(), "--help").stdout
        options, _, examples = help_text.partition("Examples:\n")
        for option in set(re.findall(r"--[a-z][a-z-]*", options)) - {"--help"}:
            check(option in section, f"{name}: {option} is not in the page", section)
        if " " in name:
            continue  # its examples are those of the command that it is a part of
        for example in re.findall(r"^  (\S.*)$", examples, re.MULTILINE):
            check(words(example) in words(section), f"{name}: example", example)
    print(f"{len(sections)} commands are in the manual page")


if __name__ == "__main__":
    main()
