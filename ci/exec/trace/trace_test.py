"""`warpcheck exec --trace` and `--profile`: trace_test.py WARPCHECK NVCC SOURCE_DIRECTORY NODE_MODULES."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[1]))
sys.path.append(str(pathlib.Path(__file__).parent))
from exec_testing import (HERE, SOURCES, WARPCHECK, Source, Verdicts, build, run, run_that_is_timed_out,
                          run_with_findings)
from trace_events import problems_of

SOURCE = Source("trace/trace_programs.cu", "trace_programs.cu")
TRACE = HERE / "run.trace"
NODE_MODULES = sys.argv[4]
VERDICTS_SEEN = Verdicts("trace")


def setUpModule():
    build("trace_programs.cu", "program", "-cudart", "shared")


def tearDownModule():
    VERDICTS_SEEN.check()


def traced(*options, mode=()):
    """The result of exec, and the lines of the trace."""
    result = run("--trace", str(TRACE), *options, "--", "./program", *mode)
    return result, TRACE.read_text().splitlines()


def imported(trace):
    """What Chromium's viewer sees in a trace."""
    importer = pathlib.Path(__file__).parent / "import_trace.mjs"
    result = subprocess.run(["node", str(importer), NODE_MODULES, str(trace)], capture_output=True, text=True)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout)


def steps(lines):
    return [line for line in lines if re.match(r" *\d+ b\d", line)]


class Traces(unittest.TestCase):
    def test_the_program_and_its_report_are_the_same(self):
        plain, _ = run_with_findings("./program", verdicts=VERDICTS_SEEN)
        result, lines = traced()
        self.assertEqual(plain.returncode, 66)
        self.assertEqual((result.returncode, result.stdout), (plain.returncode, plain.stdout))
        times = re.compile(r"in [0-9.]+ m?s|[0-9.]+ thousand|[0-9.]+ million")
        self.assertEqual(times.sub("", result.stderr), times.sub("", plain.stderr))
        self.assertEqual([line for line in lines if line.startswith("launch ") and ":" in line],
                         ["launch 0: fill  grid (1,1,1) block (64,1,1)",
                          "launch 1: block_sum  grid (1,1,1) block (64,1,1)"])
        self.assertEqual(lines[-1], "# end of the file")

    def test_the_race_stands_where_it_occurs(self):
        _, lines = traced("--kernel", "block_sum")
        at = next(i for i, line in enumerate(lines) if "!! data-race on shared memory partial[0]" in line)
        place = f"trace_programs.cu:{SOURCE.line_of('take')}"
        add = f"trace_programs.cu:{SOURCE.line_of('add')}"
        sides = [re.fullmatch(r" +\((\d)\) (\w+) by block \(0,0,0\) thread \((\d+),0,0\): step (\d+)", line)
                 for line in lines[at + 1:at + 3]]
        by_step = {int(line.split()[0]): line for line in steps(lines)}
        for side in sides:
            line = by_step[int(side[4])]
            self.assertIn(place if side[2] == "read" else add, line)
            self.assertIn(f" w{int(side[3]) // 32} ", line)
        self.assertEqual({side[2] for side in sides}, {"read", "write"})
        self.assertFalse(any("fill" in line for line in lines))

    def test_lines_and_lanes(self):
        line = SOURCE.line_of("add")
        result, lines = traced("--lines", f"trace_programs.cu:{line}", "--warp", "1", "--lanes", "3")
        self.assertEqual(result.returncode, 66)
        self.assertTrue(steps(lines))
        for step in steps(lines):
            self.assertIn(f" trace_programs.cu:{line} ", step)
            self.assertIn(" w1 ", step)
            self.assertNotIn("lane 0:", step)

    def test_json_has_a_track_a_warp(self):
        chrome = HERE / "run.json"
        result = run("--trace", str(chrome), "--", "./program")
        self.assertEqual(result.returncode, 66)
        trace = json.loads(chrome.read_text())
        names = [event["args"]["name"] for event in trace if event["ph"] == "M" and event["args"]]
        self.assertEqual(names, ["launch 0 fill block 0", "warp 0", "warp 1",
                                 "launch 1 block_sum block 0", "warp 0", "warp 1", "whole run"])
        self.assertTrue(any(event.get("cat") == "finding" for event in trace))
        self.assertEqual(problems_of(trace), [])

    def test_json_is_what_viewers_read(self):
        chrome = HERE / "run.json"
        for options in (("--accesses",), ("--trace-limit", "4K"), ("--kernel", "fill")):
            self.assertEqual(run("--trace", str(chrome), *options, "--", "./program").returncode, 66)
            self.assertEqual(problems_of(json.loads(chrome.read_text())), [], options)

    def test_chromiums_viewer_shows_all_of_it(self):
        chrome = HERE / "run.json"
        self.assertEqual(run("--trace", str(chrome), "--accesses", "--", "./program").returncode, 66)
        seen = imported(chrome)
        self.assertEqual(seen["complaints"], [])
        tracks = [track for track in seen["tracks"] if track["process"] != "whole run"]
        self.assertEqual([(track["process"], track["name"]) for track in tracks],
                         [(f"launch {launch} block 0", f"warp {warp}")
                          for launch in ("0 fill", "1 block_sum") for warp in (0, 1)])
        written = json.loads(chrome.read_text())
        shown = [(entry["name"], entry["begin"], entry["end"]) for track in tracks for entry in track["entries"]]
        self.assertEqual(sorted(shown), sorted((event["name"], event["ts"], event["ts"] + event.get("dur", 0))
                                               for event in written if event["ph"] in "XI" and event["pid"] != 0))
        depths = {"phase": 0, "line": 1, "access": 2}
        for track in tracks:
            for entry in track["entries"]:
                if entry["category"] in depths:
                    self.assertEqual(entry["depth"], depths[entry["category"]], entry)
        findings = [name for name, _, _ in shown if "data-race" in name]
        self.assertTrue(findings)
        self.assertEqual([end["name"] in findings for arrow in seen["arrows"] for end in arrow],
                         [True] * len(findings))

    def test_cases_of_all_kinds_of_findings(self):
        # One side, a side of the host, no side in a step, and a read that finds an old value.
        for case in ("histogram_shared_published/fc30", "reduce_max_published/e2bf", "kernel_new_published/df99",
                     "message_passing_unfenced/3bb6"):
            path = f"{SOURCES}/fuzz/cases/{case}.case"
            text = subprocess.run([WARPCHECK, "trace", path], capture_output=True, text=True, check=True).stdout
            trace = json.loads(subprocess.run([WARPCHECK, "trace", path, "--format", "chrome", "--accesses"],
                                              capture_output=True, text=True, check=True).stdout)
            self.assertEqual(problems_of(trace), [], case)
            headlines = re.findall(r"^ +!! (.*)$", text, re.MULTILINE)
            marks = [event["name"] for event in trace if event.get("cat") == "finding" and event["ph"] == "I"]
            for headline in headlines:
                self.assertTrue(any(headline in mark for mark in marks), headline)
            self.assertNotRegex(text, r"\(\d\) (read|write|atomic) by .*\)\n")
        self.assertRegex(text, r"ld\.volatile\.global\.u32 .* reads allocation of 536 bytes \[64\] %r\d+:=0\n")

    def test_the_limit_ends_the_trace_and_not_the_program(self):
        result, lines = traced("--trace-limit", "4K")
        self.assertEqual(result.returncode, 66)
        self.assertLess(TRACE.stat().st_size, 5000)
        self.assertRegex(lines[-2], r"# \d+ of \d+ steps are left out: the limit of \d+ bytes is reached")

    def test_a_kill_leaves_a_usable_beginning(self):
        with subprocess.Popen([WARPCHECK, "exec", "--trace", str(TRACE), "--", "./program", "long"], cwd=HERE,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and (not TRACE.exists() or TRACE.stat().st_size < 100_000):
                time.sleep(0.05)
            process.kill()
        lines = TRACE.read_text()
        self.assertTrue(lines.endswith("\n"))
        self.assertGreater(len(steps(lines.splitlines())), 100)

    def test_a_disk_that_fills_up_is_told_and_the_program_ends_as_before(self):
        full = HERE / "full"
        full.mkdir()
        script = f"mount -t tmpfs -o size=8k none {full} || exit 77; " \
                 f"{WARPCHECK} exec --trace {full}/trace -- ./program"
        try:
            result = subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=HERE, capture_output=True, text=True)
        except FileNotFoundError:
            self.skipTest("no unshare")
        if result.returncode in (1, 77):
            self.skipTest("may not mount a file system")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("1 error", result.stderr)
        self.assertIn(f"cannot write to {full}/trace: No space left on device", result.stderr)

    def test_a_program_that_changes_its_directory_is_traced_to_the_same_file(self):
        result = subprocess.run([WARPCHECK, "exec", "--trace", "here.trace", "--", "sh", "-c",
                                 f"cd / && {HERE}/program"], cwd=HERE, capture_output=True, text=True)
        self.assertEqual(result.returncode, 66, result.stderr)
        self.assertTrue(steps((HERE / "here.trace").read_text().splitlines()))


class Profiles(unittest.TestCase):
    def test_lines_and_what_they_do_to_memory(self):
        file, report = HERE / "profile.json", HERE / "report.json"
        result = run("--profile", str(file), "--json", str(report), "--", "./program")
        self.assertEqual(result.returncode, 66)
        self.assertIn("========= profile: lines that lose most come first\n", result.stderr)
        self.assertIn(f"========= trace_programs.cu:{SOURCE.line_of('fill')}  __global__ void fill", result.stderr)
        profile = json.loads(file.read_text())
        self.assertEqual(json.loads(report.read_text())["profile"], profile)
        lines = {line["line"]: line["counts"] for line in profile["lines"]}
        fill, add = lines[SOURCE.line_of("fill")], lines[SOURCE.line_of("add")]
        self.assertEqual([fill[name] for name in ("executions", "lanes", "requests", "sectors", "excess_sectors")],
                         [2, 64, 2, 8, 0])
        # Six rounds of two warps, unrolled; those of 16 lanes and fewer part at the branch.
        self.assertEqual([add[name] for name in ("executions", "divergences", "shared_requests", "conflicts")],
                         [2, 5, 18, 0])
        subprocess.run(["/usr/bin/python3", "-c", """
import json, sys
import jsonschema
schema = json.load(open(f"{sys.argv[1]}/docs/use/report.schema.json"))
for document in sys.argv[2:]: jsonschema.validate(json.load(open(document)), schema)
""", SOURCES, str(file), str(report)], check=True)

    def test_ctrl_c_leaves_what_was_counted_and_traced(self):
        file = HERE / "interrupted.json"
        TRACE.unlink(missing_ok=True)
        with subprocess.Popen([WARPCHECK, "exec", "--profile", str(file), "--trace", str(TRACE), "--", "./program",
                               "long"], cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            while process.poll() is None and (not TRACE.exists() or TRACE.stat().st_size < 100_000):
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            told = process.communicate()[1]
        self.assertEqual(process.returncode, 130, told)
        self.assertIn("========= profile, counted until the program was killed: lines that lose most come", told)
        self.assertIn("========= trace: the program was killed, so its last steps may be missing\n", told)
        self.assertEqual(TRACE.read_text().splitlines()[-2:], [
            "# cut off: a process was killed, so its last steps may be missing", "# end of the file"])
        lines = {line["line"]: line["counts"] for line in json.loads(file.read_text())["lines"]}
        self.assertEqual([lines[SOURCE.line_of("fill")][name] for name in ("executions", "requests", "sectors")],
                         [2, 2, 8])

    def test_of_a_launch_that_does_not_end_is_told_what_was_counted(self):
        result = run_that_is_timed_out("--profile", "--", "./program", "long", until="data[0] = data[0] + 1;")
        self.assertEqual(result.returncode, 124, result.stderr)
        self.assertRegex(result.stderr, r"data\[0\] = data\[0\] \+ 1;\n"
                                        r"=========   .*executed \d{5,} times with 1 of 32 lanes")

    def test_a_file_that_is_no_json_is_refused(self):
        result = run("--profile", "scan.cu", "--", "./program")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("--profile scan.cu: the file to write must end with .json", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
