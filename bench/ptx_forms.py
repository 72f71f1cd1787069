#!/usr/bin/env python3
"""Which instructions that the toolkit knows are executed: ptx_forms.py [--grammar] WARPCHECK [TARGET...]

The toolkit's own wrappers (cuda::ptx) name every form of the newer instructions; with --grammar, the forms are
those of ptx_grammar.py, right ones and wrong ones, which takes minutes.  Each is assembled by ptxas for each
target (default: sm_90a, sm_100a, sm_120a), and what ptxas accepts is shown to `warpcheck show`: printed is what
is refused, with its reason, the number of such forms and an example.  The status is 1 if that is something else
than KNOWN.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import ptx_grammar

# Refused with a reason: the ISA has the layouts of interleaved maps, and the halo of im2col::w, in figures.
KNOWN = {"a value that tensor maps here do not have", "unknown modifier '.im2col::w'"}
BATCH = 1500  # forms in one file: ptxas names errors a hundred at a time
TYPES = {"r": "b32", "l": "b64", "h": "b16", "f": "f32", "d": "f64", "q": "b128"}
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def toolkit():
    """The toolkit's folder, as its compiler says: the nvcc on PATH may be a link or a script."""
    nvcc = os.environ.get("CUDACXX") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    steps = subprocess.run([nvcc, "--dryrun", "-x", "cu", "-ptx", "/dev/null"], capture_output=True, text=True,
                           check=True).stderr
    return pathlib.Path(re.search(r"^#\$ TOP=(.*)", steps, re.MULTILINE)[1]).resolve()


def statements(text):
    """What stands in the parentheses of each asm statement."""
    for found in re.finditer(r"\basm\s*(?:volatile)?\s*\(", text):
        at, depth = found.end(), 1
        while depth:
            if text[at] == '"':
                at = STRING.match(text, at).end()
                continue
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        yield text[found.end():at - 1]


def parts(statement):
    """The text of an asm statement, and the letters of its operands."""
    code = re.match(r"\s*(?:" + STRING.pattern + r"\s*)+", statement)
    operands = re.findall(r'"[=+]?([rlhfdqn])"\s*\(', statement[code.end():])
    text = "".join(each.group(1) for each in STRING.finditer(code.group()))
    return re.sub(r"//.*?(\n|$)", " ", text.replace("\\n", "\n").replace("\\t", " ")), operands


def kernels(headers):
    """For each form that the wrappers in a folder have: its body, with registers for its operands."""
    bodies = {}
    for header in sorted(headers.rglob("*.h")):
        for statement in statements(header.read_text()):
            if not statement.lstrip().startswith('"'):
                continue  # it is in a comment
            text, operands = parts(statement)
            names = ["1" if letter == "n" else f"%o{at}" for at, letter in enumerate(operands)]
            body = re.sub(r"%(\d+)", lambda at: names[int(at[1])] if int(at[1]) < len(names) else "?",
                          text).replace("%%", "%").replace("\n", " ")
            registers = " ".join(f".reg .{TYPES[letter]} %o{at};"
                                 for at, letter in enumerate(operands) if letter != "n")
            bodies.setdefault(f"{registers} {body}", text.strip().replace("\n", " "))
    if not bodies:
        sys.exit(f"ptx_forms.py: {headers} has no asm statements")
    return list(bodies.items())


def module(target, chosen):
    return f".version 9.0\n.target {target}\n.address_size 64\n" + "".join(
        f".visible .entry k{number}() {{ {body} ret; }}\n" for number, (body, _) in chosen)


def accepted(ptxas, target, forms, file):
    """The forms that ptxas accepts, with their numbers."""
    numbered, known = list(enumerate(forms)), []
    for first in range(0, len(numbered), BATCH):
        chosen = numbered[first:first + BATCH]
        while chosen:
            file.write_text(module(target, chosen))
            done = subprocess.run([ptxas, "-O0", "-arch", target, file, "-o", "/dev/null"], capture_output=True,
                                  text=True)
            if done.returncode == 0:
                break
            wrong = {int(line) - 4 for line in re.findall(r"line (\d+); error", done.stderr)}
            if not wrong:
                sys.exit(f"ptx_forms.py: {ptxas} ends with {done.returncode}: {done.stderr}")
            chosen = [each for at, each in enumerate(chosen) if at not in wrong]
        known += chosen
    file.write_text(module(target, known))
    return known


def main(warpcheck, *targets, has_grammar):
    place = toolkit()
    if has_grammar:
        forms = [(f"{ptx_grammar.REGISTERS} {text}", text) for text in dict.fromkeys(ptx_grammar.forms())]
    else:
        forms = kernels(place / "include/cccl/cuda/__ptx/instructions")
    unexpected = False
    for target in targets or ("sm_90a", "sm_100a", "sm_120a"):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "forms.ptx"
            chosen = dict(accepted(place / "bin/ptxas", target, forms, file))
            shown = subprocess.run([warpcheck, "show", file, "--full-names"], capture_output=True,
                                   text=True, check=True).stdout
        reasons = collections.defaultdict(list)
        for number, why in re.findall(r"^kernel k(\d+)\n  cannot be executed: (.*)", shown, re.MULTILINE):
            text = chosen[int(number)][1]
            word = re.search(r"(?:^|[; {])([a-z]\w+\.[\w:]+)[\w.:]* ", text)
            why = re.sub(r" in '[^']*'$", "", why.split("not supported: ")[-1])
            reasons[word[1] if word else "?", re.sub(r"(im2col::w)::128", r"\1", why)].append(text)
        refused = sum(map(len, reasons.values()))
        unexpected |= len(chosen) < 1000 or any(why not in KNOWN for _, why in reasons)
        print(f"{target}: {len(chosen)} forms, {len(chosen) - refused} executed, {refused} refused")
        for (word, why), texts in sorted(reasons.items()):
            print(f"  {len(texts):4} {word}: {why}\n       {texts[0][:120]}")
    return unexpected


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(main(*[word for word in words if word != "--grammar"], has_grammar="--grammar" in words))
