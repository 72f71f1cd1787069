"""The functions of libcublas: generate.py HEADER LEGACY_HEADER FUNCTIONS ROUTINES OUTPUT
LEGACY_OUTPUT DONE

Writes for each function of the header that ROUTINES lists a definition that calls the routine of that
name with the function's arguments; C++ finds by their types which one.  Functions of FUNCTIONS (all
that the library exports) that are neither listed nor done by hand are refused by name when they are
called. DONE gets the names of those that are not refused.
"""

import re
import sys

HEADER, LEGACY_HEADER, FUNCTIONS, ROUTINES, OUTPUT, LEGACY_OUTPUT, DONE = sys.argv[1:]
COUNTS = {"int", "int64_t", "long long int"}
# What letters stand for in arguments of the legacy functions, and scalars that are passed by value.
LETTERS = {"side": "side", "uplo": "fill", "trans": "operation", "transa": "operation",
           "transb": "operation", "diag": "diagonal"}
SCALARS = {"float", "double", "cuComplex", "cuDoubleComplex"}
HEAD = """// Written by generate.py from routines.txt.
#include "vgpu/libraries/cublas/routines.hpp"

using namespace warpcheck::libraries::cublas;  // NOLINT(google-build-using-namespace)

extern "C" {
"""
LEGACY_HEAD = """// Written by generate.py from routines.txt.
#include <cublas.h>

#include "vgpu/libraries/cublas/legacy.hpp"
#include "vgpu/libraries/cublas/routines.hpp"

using namespace warpcheck::libraries::cublas;  // NOLINT(google-build-using-namespace)

extern "C" {
"""


def declarations(header):
    """{name: (type of the answer, [(type, name), ...])}"""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", open(header).read(), flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    found = {}
    for answer, name, parameters in re.findall(
            r"(\w+)\s+CUBLASWINAPI\s+(\w+)\s*\(([^()]*)\)", text):
        each = [re.match(r"(.*?)(\w+)\s*(\[\])?$", " ".join(parameter.split()))
                for parameter in parameters.split(",")]
        found[name] = answer, [(one[1].strip() + ("[]" if one[3] else ""), one[2]) for one in each]
    return found


def routines(path):
    """{function: routine}, and the functions that are done by hand."""
    known, by_hand = {}, set()
    for line in open(path):
        line = line.split("#")[0].strip()
        if not line:
            continue
        routine, prefixes = line.split(":")
        for prefix in prefixes.split():
            if routine == "by hand":
                by_hand.add(prefix)
            else:
                known["cublas" + prefix.replace("*", routine)] = routine.lstrip("_")
    return known, by_hand


def parameter(kind, name):
    return f"{kind[:-2]} {name}[]" if kind.endswith("[]") else f"{kind} {name}"


def definition(name, shown, routine, parameters):
    given = ", ".join(parameter(*each) for each in parameters)
    names = [each for _, each in parameters[1:]]
    counts = ", ".join(f'{{"{each}", {each}}}' for kind, each in parameters if kind in COUNTS)
    return f"""cublasStatus_t {name}({given}) {{
  return answer({{"{shown}", __builtin_return_address(0)}}, {parameters[0][1]},
                [&](BlasCall& call) {{ {routine}({", ".join(["call", *names])}); }}, {{{counts}}});
}}
"""


def legacy_definition(name, routine, result, parameters):
    """Scalars come by value, the result is the answer, and letters stand for enumerations."""
    given = ", ".join(parameter(*each) for each in parameters)
    names = [f"{LETTERS[each]}_named({each})" if kind == "char" else
             f"&{each}" if kind in SCALARS else each for kind, each in parameters]
    if routine == "trmm":
        names += names[-2:]  # B is the result, too
    counts = ", ".join(f'{{"{each}", {each}}}' for kind, each in parameters if kind in COUNTS)
    if result != "void":
        names.append("&result")
    return f"""{result} {name}({given}) {{
  {f"{result} result{{}};" if result != "void" else ""}
  answer_legacy({{"{name}", __builtin_return_address(0)}},
                [&](BlasCall& call) {{ {routine}({", ".join(["call", *names])}); }}, {{{counts}}});
  {"return result;" if result != "void" else ""}
}}
"""


def main():
    declared = {name: parameters for name, (answer, parameters) in declarations(HEADER).items()
                if answer == "cublasStatus_t"}
    legacy = declarations(LEGACY_HEADER)
    known, by_hand = routines(ROUTINES)
    exported = open(FUNCTIONS).read().split()
    out, legacy_out, done, names = [HEAD], [LEGACY_HEAD], set(), []
    for name in exported:
        shown = name.replace("_v2", "")
        routine = known.get(re.sub(r"_64$", "", shown))
        if name in by_hand:
            names.append(name)
            continue
        if routine and name in declared:
            done.add(re.sub(r"_64$", "", shown))
            names.append(name)
            out.append(definition(name, shown, routine, declared[name]))
        elif routine and name in legacy:
            names.append(name)
            legacy_out.append(legacy_definition(name, routine, *legacy[name]))
        elif name in declared:
            given = ", ".join(kind if not kind.endswith("[]") else kind[:-2] + "*"
                              for kind, _ in declared[name])
            out.append(f'cublasStatus_t {name}({given}) {{ return refused("{shown}"); }}\n')
        else:
            # It ignores its arguments, which serves all callers under the x86-64 convention.
            out.append(f'int {name}();\nint {name}() {{ return refused("{shown}"); }}\n')
    unknown = set(known) - done
    if unknown:
        sys.exit(f"routines.txt: no function of the header is {sorted(unknown)}")
    out.append("}  // extern \"C\"\n")
    open(OUTPUT, "w").write("".join(out))
    legacy_out.append("}  // extern \"C\"\n")
    open(LEGACY_OUTPUT, "w").write("".join(legacy_out))
    open(DONE, "w").writelines(f"{name}\n" for name in names)


main()
