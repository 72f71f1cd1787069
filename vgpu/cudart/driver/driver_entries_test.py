"""Checks that the entry points of the driver API refer to all functions of the driver API that
there are, and that each reference takes its function out of an archive.

  driver_entries_test.py NM ARCHIVE...
"""
import re
import subprocess
import sys

nm, *archives = sys.argv[1:]
symbol = re.compile(r"[^:]*:([^:]*):[0-9a-f ]* ([A-Za-z]) (virtual_cu[A-Z]\w*)")
defined, wanted, weak = set(), set(), set()
for line in subprocess.check_output([nm, "-A", *archives], text=True).splitlines():
    if not (found := symbol.fullmatch(line)):
        continue
    member, kind, name = found.groups()
    if kind == "T":
        defined.add(name)
    elif kind == "w":
        weak.add(name)
    elif kind == "U" and member.startswith("driver_entry_points"):
        wanted.add(name)

assert len(defined) > 300, f"only {len(defined)} functions: are these the archives?"
assert not weak, f"weak references: {sorted(weak)[:5]}"
missing = sorted(wanted - defined)
assert not missing, f"no file defines {missing}"
unused = sorted(defined - wanted)
assert not unused, f"no entry refers to {unused}: CMakeLists.txt does not see their definitions"
