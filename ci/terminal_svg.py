#!/usr/bin/env python3
"""Draws a terminal session as SVG: types commands into a tmux pane and draws what stands there.

  ci/terminal_svg.py [--columns N] [--rows N] [--wait SECONDS] COMMAND... > picture.svg

Each COMMAND is a line; the first ones are typed into a shell, whose directory is this one.  Waits
after each of them, so that its answer is there.  docs/use/debugger.svg is

  PATH=build:$PATH ci/terminal_svg.py --columns 122 --rows 45 \\
    'warpcheck debug fuzz/cases/scan_hillis_steele_published/cc66.case' continue 'finding 1 1' \\
    'print %r18' 'print share[1]' stepi 'print share[1]' 'thread 2' 'print %r18' 'lanes %r18' \\
    'info threads' > docs/use/debugger.svg

tmux is needed; colours are those that the pane has.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from xml.sax.saxutils import escape

COLOURS = ["#5c6370", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#dcdfe4"]
CELL_WIDTH, CELL_HEIGHT, MARGIN = 8.43, 18, 14


def pane_after(options):
    """Returns the pane's lines, with escape sequences."""
    with tempfile.TemporaryDirectory() as directory:
        tmux = ["tmux", "-S", os.path.join(directory, "socket"), "-f", "/dev/null"]
        shell = "exec env PS1='$ ' bash --norc --noprofile"
        environment = dict(os.environ, HISTFILE="", HOME=directory)
        subprocess.run([*tmux, "new-session", "-d", "-x", str(options.columns), "-y",
                        str(options.rows), shell], check=True, env=environment)
        time.sleep(options.wait)
        for command in options.command:
            subprocess.run([*tmux, "send-keys", "-l", command], check=True)
            subprocess.run([*tmux, "send-keys", "Enter"], check=True)
            time.sleep(options.wait)
        shown = subprocess.run([*tmux, "capture-pane", "-e", "-p"], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        subprocess.run([*tmux, "kill-server"], check=False)
    return shown.rstrip("\n").split("\n")


def spans_of(line):
    """Splits a line at its escape sequences: pairs of a style and a text."""
    style = {}
    for number, part in enumerate(re.split(r"\x1b\[([\d;]*)m", line)):
        if number % 2 == 0:
            if part:
                yield dict(style), part
            continue
        for code in (int(code or 0) for code in part.split(";")):
            if code in (0, 39):
                style.pop("fill", None)
            if code in (0, 22):
                style.pop("font-weight", None)
            if code == 1:
                style["font-weight"] = "bold"
            elif 30 <= code <= 37 or 90 <= code <= 97:
                style["fill"] = COLOURS[code % 10]


def svg_of(lines, columns):
    width = columns * CELL_WIDTH + 2 * MARGIN
    height = len(lines) * CELL_HEIGHT + 2 * MARGIN
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
           f'width="{width:.0f}" height="{height:.0f}">')
    yield '<rect width="100%" height="100%" rx="6" fill="#1e2127"/>'
    yield ('<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
           'fill="#dcdfe4">')
    for number, line in enumerate(lines):
        column, baseline = 0, MARGIN + number * CELL_HEIGHT + 14
        for style, text in spans_of(line):
            shown = escape(text).replace(" ", "\u00a0")  # spaces would be folded
            look = "".join(f' {name}="{value}"' for name, value in style.items())
            yield (f'<text x="{MARGIN + column * CELL_WIDTH:.1f}" y="{baseline}" '
                   f'textLength="{len(text) * CELL_WIDTH:.1f}"{look}>{shown}</text>')
            column += len(text)
    yield "</g></svg>"


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--columns", type=int, default=120)
    options.add_argument("--rows", type=int, default=40)
    options.add_argument("--wait", type=float, default=1)
    options.add_argument("command", nargs="+")
    given = options.parse_args()
    sys.stdout.write("\n".join(svg_of(pane_after(given), given.columns)) + "\n")


if __name__ == "__main__":
    main()
