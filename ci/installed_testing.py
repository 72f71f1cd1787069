"""Shared by tests of an installed warpcheck: commands, README.md's five commands, a program with a defect.
"""
import re
import subprocess
import sys

COMMANDS = 5

PROGRAM = r"""
#include <cstdio>
__global__ void last(const int* data, int n, int* out) { *out = data[n]; }
int main() {
  int *data, *out, result = 1;
  cudaMalloc(&data, 40);
  cudaMalloc(&out, 4);
  cudaMemset(data, 0, 40);
  last<<<1, 1>>>(data, 10, out);
  cudaMemcpy(&result, out, 4, cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
}
"""


def run(directory, command, status=0):
    ran = subprocess.run(command, cwd=directory, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, shell=isinstance(command, str), check=False)
    if ran.returncode != status:
        sys.exit(f"{command} ended with {ran.returncode}, {status} expected:\n{ran.stdout}")
    return ran.stdout


def expect(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"expected {part!r} in\n{text}")


def five_commands(repository):
    """The five commands of README.md; the last two find and replay."""
    block = re.search(r"<!-- five commands -->\n```\n(.*?)```", (repository / "README.md").read_text(),
                      re.DOTALL)
    # Text after a # is a comment.
    commands = [line.split("#")[0].strip() for line in block.group(1).splitlines()]
    if len(commands) != COMMANDS:
        sys.exit(f"{COMMANDS} commands expected in README.md, found {commands}")
    return commands


def expect_same_report(found, replayed):
    """Without the line that says how it was found."""
    if found.splitlines()[1:] != replayed.splitlines()[1:]:
        sys.exit(f"found\n{found}but replayed\n{replayed}")
