#!/usr/bin/env python3
"""ci/oss-fuzz/build.sh, run outside Docker, builds targets that a fuzzing service can use.

  oss_fuzz_test.py REPOSITORY BUILD_DIRECTORY WARPCHECK CLANG CLANGXX NVCC

Builds one target, around the virtual GPU, the harness and the entry of targets that BUILD_DIRECTORY has already, with the
contract's variables, and looks at the result as the service's own check does (bad_build_check in the base-runner image of OSS-Fuzz): names and sidecars, instrumentation, AddressSanitizer
and no other, a start from another directory without arguments, the seed corpus; then at what it cannot
check: nothing is shared but the C library, and the planted defect is found and told in the words that
crashes are grouped by.  What was built stays in BUILD_DIRECTORY/oss-fuzz, so that the next run builds only what has changed.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

TARGET = "fuzz_planted_service"
FLAGS = "-O0 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address " \
        "-fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link"
MAY_BE_SHARED = {"linux-vdso.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
                 "libresolv.so.2", "ld-linux-x86-64.so.2"}
EDGES_MIN = 100
ASAN_CALLS_MIN = 1000


def check(condition, what, shown=""):
    if not condition:
        sys.exit(f"{what}\n{shown}")


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)


def check_names(prebuilt, warpcheck):
    """The script builds all pairs except the specimens."""
    pairs = json.loads(run([warpcheck, "list", "--json"]).stdout)["pairs"]
    clean = {"fuzz_" + pair["name"] for pair in pairs if not pair["expects"]}
    named = run([prebuilt / "fuzz" / "targets" / "clean_fuzz_targets"]).stdout.split()
    check(clean and sorted(clean) == named, "the targets of clean pairs", f"{sorted(clean)}\n{named}")


def check_placeholders(repository):
    """Placeholders are where docs/use/fuzzing-services.md says, and nowhere else."""
    page = (repository / "docs" / "use" / "fuzzing-services.md").read_text()
    documented = re.findall(r"^ *\| `(project\.yaml|Dockerfile)` \| (?:`(\w+)`|the address of the `(.*?)`)", page,
                            re.MULTILINE)
    documented = sorted((file, key or command) for file, key, command in documented)
    marked = []
    for path in sorted((repository / "ci" / "oss-fuzz").iterdir()):
        for line in path.read_text().splitlines() if path.is_file() else ():
            if "to-be-filled-in" in line:
                marked.append((path.name, "git clone" if "git clone" in line else line.partition(":")[0]))
    check(marked and sorted(marked) == documented, "what is to be filled in", f"{marked}\n{documented}")
    for path in (repository / ".clusterfuzzlite").iterdir():
        check("to-be-filled-in" not in path.read_text(), f"{path} has nothing to fill in")


def build(repository, prebuilt, clang, clangxx, nvcc):
    work = prebuilt / "oss-fuzz"
    source, out = work / "src", work / "out"
    shutil.rmtree(out, ignore_errors=True)
    for directory in (source, out, work / "work"):
        directory.mkdir(parents=True, exist_ok=True)
    if not (source / "warpcheck").exists():
        (source / "warpcheck").symlink_to(repository)
    built = run([str(repository / "ci" / "oss-fuzz" / "build.sh")], cwd=source / "warpcheck", env={
        **os.environ, "CC": clang, "CXX": clangxx, "CFLAGS": FLAGS, "CXXFLAGS": FLAGS, "CUDACXX": nvcc,
        "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer", "FUZZING_ENGINE": "libfuzzer", "SANITIZER": "address",
        "ARCHITECTURE": "x86_64", "SRC": str(source), "OUT": str(out), "WORK": str(work / "work"),
        "WARPCHECK_TARGETS": TARGET, "WARPCHECK_PREBUILT": str(prebuilt)})
    check(built.returncode == 0, "build.sh failed", built.stdout)
    return out


def check_files(out):
    names = sorted(path.name for path in out.iterdir())
    check(names == [TARGET, f"{TARGET}.dict", f"{TARGET}.options", f"{TARGET}_seed_corpus.zip"],
          "unexpected files", str(names))
    check(re.fullmatch(r"[A-Za-z0-9_-]+", TARGET), "the name is not one that a service takes")
    options = (out / f"{TARGET}.options").read_text()
    check(options.startswith("[libfuzzer]\n"), "options without their section", options)
    check(os.access(out / TARGET, os.X_OK), "the target cannot be executed")
    shared = set(re.findall(r"^\s*(\S+?)(?: =>| \()", run(["ldd", str(out / TARGET)]).stdout, re.MULTILINE))
    shared = {pathlib.PurePath(name).name for name in shared}
    check(shared <= MAY_BE_SHARED, "shared libraries that the service does not have",
          str(shared - MAY_BE_SHARED))


def check_instrumentation(program, output):
    edges = re.search(r"INFO: Loaded \d+ modules?.*(?:counters|guards)\): (\d+)", output)
    check(edges and int(edges.group(1)) >= EDGES_MIN, "hardly any instrumentation", output)
    code = run(["objdump", "-d", "--no-show-raw-insn", str(program)]).stdout
    calls = {name: len(re.findall(rf"\bcallq?\s+[0-9a-f]+ <__{name}", code)) for name in ("asan", "msan")}
    check(calls["asan"] >= ASAN_CALLS_MIN and calls["msan"] <= 3, "not the sanitizer that was asked for",
          str(calls))


def check_runs(out, elsewhere):
    """Runs in another directory, the only one that it may write to."""
    program = elsewhere / "bin" / TARGET
    program.parent.mkdir()
    shutil.copy(out / TARGET, program)
    arguments = [f"-artifact_prefix={elsewhere}/", "-rss_limit_mb=2560", "-timeout=25"]
    started = run([program, "-seed=1337", "-runs=4", *arguments], cwd="/")
    check("Done 4 runs" in started.stdout, "it does not start", started.stdout)
    check_instrumentation(program, started.stdout)

    corpus = elsewhere / "corpus"
    zipfile.ZipFile(out / f"{TARGET}_seed_corpus.zip").extractall(corpus)
    seeds = len(list(corpus.iterdir()))
    loaded = run([program, "-runs=0", *arguments, corpus], cwd="/")
    check(loaded.returncode == 0 and f"INFO: seed corpus: files: {seeds} " in loaded.stdout,
          "the seed corpus does not load", loaded.stdout)

    dictionary = f"-dict={out / TARGET}.dict"
    found = run([program, "-seed=1", "-runs=100000", dictionary, *arguments, corpus], cwd="/")
    place = r"/fuzz/targets/planted/planted_service\.cu:10:1\n"
    check(found.returncode != 0 and re.search(
        r"==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x[0-9a-f]+\n"
        r"WRITE of size 1 at 0x[0-9a-f]+ thread T0\n"
        r"    #0 0x000000000001 in planted_service_kernel /\S+" + place, found.stdout),
          "the planted defect is not found, or told in other words", found.stdout[-4000:])
    check(len(re.findall(r"^\s*#\d+ 0x[0-9a-f]+ in ", found.stdout, re.MULTILINE)) == 1,
          "frames of ours are in the stack", found.stdout[-4000:])
    saved = re.search(r"Test unit written to (\S+/crash-\S+)", found.stdout)
    check(saved, "the input is not saved", found.stdout[-4000:])
    again = run([program, *arguments, saved.group(1)], cwd="/")
    check(again.returncode != 0 and "heap-buffer-overflow" in again.stdout, "the saved input does not crash",
          again.stdout)


def main():
    repository, prebuilt, warpcheck = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    check_names(prebuilt, warpcheck)
    check_placeholders(repository)
    out = build(repository, prebuilt, *sys.argv[4:7])
    check_files(out)
    with tempfile.TemporaryDirectory() as elsewhere:
        check_runs(out, pathlib.Path(elsewhere))
    print(f"{TARGET}: built, checked, and its defect found")


main()
