#!/usr/bin/env python3
"""Completion works in real shells.

  completion_test.py WARPCHECK SHELL

Starts SHELL (bash, zsh or fish) on a terminal of its own, loads the script that `warpcheck completion`
prints, types beginnings of commands with a Tab after each, and checks the words that the command
then receives.
"""
import os
import pathlib
import pty
import select
import shlex
import signal
import sys
import tempfile
import time

START = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"],
         "fish": ["fish", "--no-config", "-i"]}
LOAD = {"bash": "source <(warpcheck completion bash)",
        "zsh": "autoload -Uz compinit && compinit -u -D && source <(warpcheck completion zsh)",
        "fish": "warpcheck completion fish | source"}
# Typed text before the Tab, and the completed words.
TYPED = {
    "warpcheck camp": ["campaign"],
    "warpcheck fuzz --corp": ["fuzz", "--corpus"],
    "warpcheck check --build unop": ["check", "--build", "unoptimized"],
    "warpcheck check scan_hillis_steele_p": ["check", "scan_hillis_steele_published"],
    "warpcheck hunt --pairs scan_tree,scan_hillis_steele_p":
        ["hunt", "--pairs", "scan_tree,scan_hillis_steele_published"],
    "warpcheck replay fou": ["replay", "found.case"],  # a file
}
SECONDS_MAX = 60

# Answers the completion scripts, and records the arguments of every other call.
PROGRAM = """#!/bin/sh
case $1 in
  completion|__complete) exec {program} "$@" ;;
esac
printf '%s\\n' "$@" > {said}.new
mv {said}.new {said}
"""


class Terminal:
    def __init__(self, command, directory):
        self.output = b""
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(directory)
            os.environ.update(HOME=str(directory), TERM="xterm", LC_ALL="C.UTF-8",
                              PATH=f"{directory}/bin:{os.environ['PATH']}")
            os.environ.pop("XDG_CONFIG_HOME", None)
            os.execvp(command[0], command)

    def type(self, text):
        os.write(self.file, text.encode())

    def wait_for(self, path):
        """Reads the shell's output, so that the shell does not block, until the file exists."""
        end = time.monotonic() + SECONDS_MAX
        while not path.exists():
            if time.monotonic() > end:
                sys.exit(f"no answer:\n{self.output.decode(errors='replace')}")
            if select.select([self.file], [], [], 0.05)[0]:
                self.output += os.read(self.file, 4096)

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def main():
    program, shell = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        said, ready = directory / "said", directory / "ready"
        (directory / "bin").mkdir()
        stand_in = directory / "bin" / "warpcheck"
        stand_in.write_text(PROGRAM.format(program=shlex.quote(program), said=said))
        stand_in.chmod(0o755)
        (directory / "found.case").write_text("{}")
        terminal = Terminal(START[shell], directory)
        try:
            terminal.type(f"{LOAD[shell]}; touch {ready}\n")
            terminal.wait_for(ready)
            for typed, expected in TYPED.items():
                terminal.type(f"{typed}\t\n")
                terminal.wait_for(said)
                words = said.read_text().splitlines()
                said.unlink()
                if words != expected:
                    sys.exit(f"{shell}: {typed!r} and Tab gave {words}, not {expected}")
        finally:
            terminal.close()
    print(f"{shell} completes")


if __name__ == "__main__":
    main()
