#!/usr/bin/env python3
"""Checks that includes point one way, as the CMake list of directories does.

Each directory may include itself and those listed for it; kernels/ and reference/ include
nothing of ours but their own headers.
"""
import pathlib
import re
import sys

ENGINE = ["vgpu/ptx", "vgpu/program", "vgpu/machine", "vgpu/schedule", "vgpu/check", "vgpu/cudart"]
MAY_INCLUDE = {
    "vgpu/ptx": [],
    "vgpu/program": ["vgpu/ptx"],
    # schedule/ is below machine/, because the machine asks a strategy what to run next.
    "vgpu/schedule": [],
    "vgpu/machine": ["vgpu/ptx", "vgpu/program", "vgpu/schedule"],
    "vgpu/check": ENGINE[:4],
    "vgpu/cudart": ENGINE[:5],
    "vgpu/libraries": ["vgpu/cudart", "vgpu/schedule"],
    "vgpu/litmus": ENGINE,
    "vgpu/conformance": ENGINE[:4],
    "vgpu/differential": ENGINE[:5] + ["vgpu/conformance"],
    "model": [],
    "model/compare": ENGINE + ["model"],
    "kernels": [],
    "reference": [],
    "harness": ENGINE,
    "properties": ["harness", "kernels", "reference"],
    "fuzz": ENGINE + ["harness", "properties"],
    "campaign": ENGINE + ["harness", "fuzz", "properties"],
    "cli": ENGINE + ["model", "harness", "fuzz", "campaign"],
    "bench": ENGINE + ["harness", "kernels", "properties", "reference"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def owner(path):
    return max((name for name in MAY_INCLUDE if path.startswith(name + "/")), key=len, default=None)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    errors = []
    for name, allowed in MAY_INCLUDE.items():
        for path in sorted((root / name).rglob("*")):
            if path.suffix not in {".hpp", ".cpp", ".cu", ".cuh"}:
                continue
            relative = path.relative_to(root).as_posix()
            if owner(relative) != name:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                target = owner(match.group(1)) if match else None
                if target and target != name and target not in allowed:
                    errors.append(f"{relative}:{number}: {name} must not include {target}")
    print("\n".join(errors) or "includes point one way")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
