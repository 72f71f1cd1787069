"""`warpcheck exec` as a user runs it: programs_test.py WARPCHECK NVCC SOURCE_DIRECTORY.

Programs are compiled by plain nvcc, with the shared runtime library and with our static one, and
run as they are.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from exec_testing import HERE, LIBRARIES, NVCC, SOURCES, WARPCHECK, Source, build, run

SOURCE = Source("ends/programs.cu", "programs.cu")
line_of = SOURCE.line_of


def setUpModule():
    build("programs.cu", "shared", "-cudart", "shared")


RACE = f"""\
========= warpcheck exec: ./shared
========= data-race on shared memory copy[32], 4 bytes, in kernel shift
=========   (1) read  by block (0,0,0) thread (31,0,0)  programs.cu:{line_of("race_read")}   ld.shared.u32
=========   (2) write by block (0,0,0) thread (32,0,0)  programs.cu:{line_of("race_written")}   st.shared.u32
=========   no barrier orders (1) and (2)
=========   also between lanes of a warp
=========   63 times
=========   hint: Put __syncthreads() between the two accesses"""


# Offsets as in cudaDeviceProp of release 12.
PROPERTIES_12 = r"""
#include <cstdio>
#include <cstring>
extern "C" int cudaGetDeviceProperties_v2(void* properties, int device);
int main() {
  char properties[1032];
  if (cudaGetDeviceProperties_v2(properties, 0) != 0) return 1;
  const auto at = [&](int offset) {
    int value;
    std::memcpy(&value, properties + offset, sizeof value);
    return value;
  };
  std::printf("%s %d.%d, warps of %d, %d at %d MHz\n", properties, at(360), at(364), at(308), at(388),
              at(348) / 1000);
}
"""

class Findings(unittest.TestCase):
    def assert_race(self, result, status=66):
        self.assertIn("========= data-race on shared memory copy[", result.stderr)
        self.assertIn(f" programs.cu:{line_of('race_written')} ", result.stderr)
        self.assertIn(f" programs.cu:{line_of('race_read')} ", result.stderr)
        self.assertEqual(result.returncode, status)

    def test_a_race_is_told_with_both_lines_behind_the_programs_output(self):
        result = run("--", "./shared", "race")
        self.assert_race(result)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr[:len(RACE)], RACE)
        hint, end, debug, status = result.stderr[len(RACE):].splitlines()
        self.assertIn("A loop often needs one", hint)
        self.assertEqual(end, "========= 1 error; 1 launch of 1 kernel")
        self.assertEqual(debug, "========= debug: warpcheck debug -- ./shared race")
        self.assertEqual(status,
                         "========= exit status 66: errors were found; the program's own is 0")

    def test_the_static_library_gives_the_same_report(self):
        static = build("programs.cu", "static", "-L", LIBRARIES)
        shared = run("--", "./shared", "race")
        result = run("--", static, "race")
        self.assert_race(result)
        self.assertEqual(result.stderr.replace("./static", "./shared"), shared.stderr)

    def test_a_program_that_needs_release_12(self):
        build("programs.cu", "release_12", "-cudart", "none", "-Xlinker",
              f"{LIBRARIES}/libcudart.so.12")
        result = run("--", "./release_12", "race")
        self.assert_race(result)
        self.assertEqual(result.stderr.replace("./release_12", "./shared"),
                         run("--", "./shared", "race").stderr)

    def test_release_12_has_its_own_layout_of_the_devices_properties(self):
        (HERE / "properties.cpp").write_text(PROPERTIES_12)
        subprocess.run(["g++", "properties.cpp", f"{LIBRARIES}/libcudart.so.12", "-o",
                        "properties"], check=True, cwd=HERE)
        result = run("--", "./properties")
        self.assertEqual(result.stdout, "warpcheck virtual GPU 7.5, warps of 32, 40 at 1000 MHz\n")

    def test_findings_survive_every_way_to_end(self):
        for mode in ("race-abort", "race-_exit", "race-exit"):
            with self.subTest(mode):
                self.assert_race(run("--", "./shared", mode))

    def findings(self, *words):
        with tempfile.TemporaryDirectory() as directory:
            report = os.path.join(directory, "report.json")
            result = run("--json", report, "--", "./shared", *words)
            with open(report) as file:
                return result, json.load(file)["findings"]

    def test_of_blocks_and_lanes_that_race_at_one_line_blocks_are_shown(self):
        result, findings = self.findings("update")
        self.assertEqual(result.returncode, 66)
        for finding in findings:
            self.assertEqual(finding["relation"], "blocks")
            self.assertEqual(finding["lack"], "atomic-update")
            self.assertEqual({side["line"] for side in finding["accesses"]}, {line_of("update")})
            self.assertEqual(finding["group"], findings[0]["hash"])
        self.assertEqual([one["also_between"] for one in findings if one["severity"] == "error"],
                         [["warps", "lanes"]])
        self.assertIn("=========   also between warps of a block and between lanes of a warp\n",
                      result.stderr)
        self.assertEqual(result.stderr.count("hint:"), 1)
        self.assertIn("atomicAdd() for +=", result.stderr)

    def test_findings_of_one_cause_are_folded(self):
        result, findings = self.findings("scratch")
        self.assertEqual(result.returncode, 66)
        of_scratch = [one for one in findings if one["relation"] == "blocks"]
        self.assertGreater(len(of_scratch), 4)
        self.assertLess(len({one["group"] for one in findings}), 4)
        self.assertLess(result.stderr.count("= data-race"), 4)
        self.assertIn(" more of this cause:\n", result.stderr)
        self.assertNotIn("__syncthreads", result.stderr)
        self.assertRegex(result.stderr, rf"{len(findings)} errors of \d causes?; 1 launch")

    def test_a_plain_read_beside_an_atomic_gets_a_hint_that_fits(self):
        result, findings = self.findings("poll")
        self.assertEqual([one["lack"] for one in findings], ["atomicity"])
        self.assertEqual({side["role"] for side in findings[0]["accesses"]}, {"atomic", "read"})
        self.assertIn("cuda::atomic_ref", result.stderr)
        self.assertNotIn("barrier", result.stderr)

    def test_repeated_races_of_copies_are_one_finding(self):
        result, findings = self.findings("copies", "5000")
        self.assertEqual(result.returncode, 66)
        self.assertEqual(len(findings), 1)
        self.assertGreater(findings[0]["count"], 4000)
        self.assertEqual(result.stderr.count("nothing orders cudaMemcpyAsync (1)"), 1)
        result, findings = self.findings("copies", "500", "same")
        self.assertEqual([one["severity"] for one in findings], ["note"])
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"; both bring the same bytes; \(1\) is in "
                                        r"race_of_copies\+0x\w+; \(2\) is in "
                                        r"race_of_copies\+0x\w+\n")

    def test_a_script_that_runs_a_program(self):
        script = HERE / "script"
        script.write_text("#!/bin/sh\n./shared race\nexit 0\n")
        script.chmod(0o755)
        self.assert_race(run("--", "./script"))

    def test_the_error_exit_status_is_the_users_choice(self):
        self.assert_race(run("--error-exitcode", "5", "--", "./shared", "race"), status=5)

    def test_checks_that_are_off_find_nothing(self):
        result = run("--check", "bounds,init", "--", "./shared", "race")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("========= no findings; 1 launch of 1 kernel", result.stderr)

    def test_leaks_are_told_when_they_are_wanted(self):
        self.assertEqual(run("--", "./shared", "leak").returncode, 0)
        result = run("--leaks", "--", "./shared", "leak")
        self.assertEqual(result.returncode, 66)
        self.assertIn("========= leak", result.stderr)
        self.assertEqual(run("--leaks", "--", "./shared", "clean", "0").returncode, 0)

    def test_findings_in_files_that_nobody_can_change(self):
        files = {each: HERE / f"ignored.{each}" for each in ("json", "sarif")}
        options = [word for each, path in files.items() for word in (f"--{each}", str(path))]
        result = run("--ignore", "*/cub/*", "--ignore", "*/programs.cu", *options, "--", "./shared",
                     "race")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "========= warpcheck exec: ./shared\n"
                         "========= no findings, 1 ignored; 1 launch of 1 kernel\n"
                         "========= exit status 0: the program's own\n")
        report = json.loads(files["json"].read_text())
        self.assertEqual(report["findings"], [])
        self.assertEqual([each["kind"] for each in report["ignored"]], ["data-race"])
        (suppressed,) = json.loads(files["sarif"].read_text())["runs"][0]["results"]
        self.assertEqual(suppressed["suppressions"][0]["kind"], "external")
        self.assert_race(run("--ignore", "*/cub/*", "--", "./shared", "race"))

    def test_further_runs_have_further_schedules(self):
        self.assertEqual(run("--", "./shared", "overtake").returncode, 0)
        result = run("--runs", "10", "--", "./shared", "overtake")
        self.assertEqual(result.returncode, 66, result.stderr)
        self.assertIn(f" programs.cu:{line_of('only_then')} ", result.stderr)
        seen = re.search(r"first seen in run \d+: (--strategy random --seed \d+)\n", result.stderr)
        again = run(*seen.group(1).split(), "--", "./shared", "overtake")
        self.assertEqual(again.returncode, 66, again.stderr)

    def test_a_run_without_errors_is_followed_by_other_schedules(self):
        result = run("--", "./shared", "overtake", causes="4000000")
        self.assertEqual(result.returncode, 66, result.stderr)
        self.assertIn(f" programs.cu:{line_of('only_then')} ", result.stderr)
        self.assertIn("========= 1 error; 1 launch of 1 kernel\n", result.stderr)
        seen = re.search(r"seen under another schedule: (--strategy \w+ --seed \d+)\n", result.stderr)
        again = run(*seen.group(1).split(), "--", "./shared", "overtake")
        self.assertEqual(again.returncode, 66, again.stderr)

    def test_these_schedules_let_all_take_their_first_lock(self):
        result = run("--", "./shared", "dine", causes="4000000")
        self.assertEqual(result.returncode, 66, result.stderr)
        self.assertIn("========= deadlock, in kernel dine\n", result.stderr)

    def test_a_report_has_the_same_bytes_each_time(self):
        first, second = (run("--runs", "3", "--", "./shared", "race") for _ in range(2))
        self.assertEqual(first.stderr, second.stderr)


class Outputs(unittest.TestCase):
    """Several runs are compared by the data that reaches the host
    (vgpu/cudart/programs/verdicts/runs/outputs.cu): files, and what differs each time."""

    def findings(self, mode, *options, runs="8"):
        path = HERE / "outputs.json"
        result = run("--runs", runs, "--json", str(path), *options, "--", "./shared", mode)
        return result, [each for each in json.loads(path.read_text())["findings"]
                        if each["kind"] == "schedule-dependent"]

    def test_files(self):
        result, (finding,) = self.findings("file")
        self.assertRegex(finding["message"], "; file result.txt, at byte 15$")
        self.assertEqual(result.returncode, 66)

    def test_a_run_is_repeated_by_what_the_report_says(self):
        result, _ = self.findings("file")
        seen = re.search(r"first seen in run \d+: (--strategy random --seed \d+)\n", result.stderr)
        run(*seen.group(1).split(), "--", "./shared", "file")
        self.assertEqual((HERE / "result.txt").read_text(), "the last is 1000\n")

    def test_what_comes_from_the_host_alone(self):
        result, findings = self.findings("stopwatch")
        self.assertEqual(findings, [])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("not compared", result.stderr)
        result, findings = self.findings("noise")
        self.assertEqual(findings, [])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("========= outputs were not compared: they differ between two runs under the "
                      "same schedule as well\n", result.stderr)


class Reports(unittest.TestCase):
    def test_every_format(self):
        files = {each: HERE / f"report.{each}" for each in ("json", "sarif", "junit", "html")}
        options = [word for each, path in files.items() for word in (f"--{each}", str(path))]
        self.assertEqual(run(*options, "--", "./shared", "race").returncode, 66)
        lines = {line_of("race_written"), line_of("race_read")}

        report = json.loads(files["json"].read_text())
        self.assertEqual(report["command"], "exec")
        (finding,) = report["findings"]
        self.assertEqual((finding["kind"], finding["kernel"]), ("data-race", "shift"))
        self.assertEqual({side["file"] for side in finding["accesses"]}, {"programs.cu"})
        self.assertEqual({side["line"] for side in finding["accesses"]}, lines)
        self.assertEqual(report["failures"][0]["input"], {"command": ["./shared", "race"]})

        (result,) = json.loads(files["sarif"].read_text())["runs"][0]["results"]
        self.assertEqual(result["ruleId"], "data-race")
        places = result["locations"] + result["relatedLocations"]
        self.assertEqual({place["physicalLocation"]["region"]["startLine"] for place in places},
                         lines)

        suite = xml.etree.ElementTree.parse(files["junit"]).getroot()
        (case,) = suite.findall(".//testcase")
        self.assertEqual(case.get("name"), "has_no_findings")
        self.assertEqual(len(suite.findall(".//failure")), 1)
        page = files["html"].read_text()
        self.assertIn("programs.cu", page)
        self.assertNotIn("there is no picture", page)

    def test_what_a_program_cannot_have_is_no_option(self):
        result = run("--lcov", "coverage.info", "--", "./shared", "race")
        self.assertEqual(result.returncode, 2)
        self.assertTrue(result.stderr.startswith("warpcheck: no such option: --lcov"), result.stderr)

    def test_a_clean_program_has_a_report_without_findings(self):
        path = HERE / "clean.json"
        self.assertEqual(run("--json", str(path), "--", "./shared", "clean", "0").returncode, 0)
        report = json.loads(path.read_text())
        self.assertEqual(report["findings"], [])
        self.assertEqual(report["claims"][0]["status"], "passed")


class Programs(unittest.TestCase):
    def test_its_own_exit_status(self):
        for status in (0, 7):
            result = run("--", "./shared", "clean", str(status))
            self.assertEqual(result.returncode, status)
            self.assertIn("========= no findings; 1 launch of 1 kernel", result.stderr)

    def test_a_crash_is_128_and_the_signal(self):
        result = run("--", "./shared", "crash")
        self.assertEqual(result.returncode, 128 + signal.SIGSEGV)
        self.assertIn(f"./shared was killed by signal {int(signal.SIGSEGV)}", result.stderr)

    def test_several_threads(self):
        result = run("--", "./shared", "threads")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("========= no findings; 4 launches of 1 kernel", result.stderr)

    def test_its_streams_and_arguments_are_its_own(self):
        result = run("--", "./shared", "echo", "-x", "--runs", "a b", input="one\ntwo\n")
        self.assertEqual(result.stdout, "<one>\n<two>\n")
        self.assertTrue(result.stderr.startswith("[-x]\n[--runs]\n[a b]\n"), result.stderr)

    def test_signals_reach_it(self):
        process = subprocess.Popen([WARPCHECK, "exec", "--", "./shared", "wait"], cwd=HERE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "waiting\n")
        process.send_signal(signal.SIGTERM)
        out, report = process.communicate(timeout=60)
        self.assertEqual(out, "terminated\n")
        self.assertEqual(process.returncode, 9)
        self.assertIn("========= no findings", report)

    def test_an_option_with_a_list_may_stand_before_the_program(self):
        for words in (["--check", "race,bounds"], ["--check", "race", "--check", "bounds"],
                      ["--ignore", "*/cub/*"]):
            with self.subTest(words):
                result = run(*words, "--", "./shared", "echo", "-x", "--", "--runs")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertTrue(result.stderr.startswith("[-x]\n[--]\n[--runs]\n"), result.stderr)
        self.assertEqual(run("--check", "race", "./shared", "clean", "7").returncode, 7)

    def test_what_is_wrong_with_the_options_is_named(self):
        for words, message in (
                (["--runz", "3", "--", "./shared"],
                 "no such option: --runz (is it '--runs'?); the program's own options follow -- "
                 "(try warpcheck exec --help)"),
                (["./shared", "--n=1"],
                 "no such option: --n; the program's own options follow -- (try warpcheck exec --help)"),
                (["--json", "--", "./shared"],
                 "--json: a value is missing before -- (try warpcheck exec --help)"),
                (["--runs", "0", "--", "./shared"],
                 "--runs: 0 is not a positive number (try warpcheck exec --help)")):
            with self.subTest(words):
                result = run(*words)
                self.assertEqual((result.returncode, result.stderr, result.stdout),
                                 (2, f"warpcheck: {message}\n", ""))
        self.assertFalse((HERE / "--").exists())

    def test_the_last_line_says_whose_the_exit_status_is(self):
        def last(result):
            return result.returncode, result.stderr.splitlines()[-1].removeprefix("========= ")
        self.assertEqual(last(run("--", "./shared", "clean", "2")),
                         (2, "exit status 2: the program's own"))
        self.assertEqual(last(run("--", "./shared", "race-exit")),
                         (66, "exit status 66: errors were found; the program's own is 3"))
        self.assertEqual(last(run("--", "./shared", "refused-call")),
                         (2, "exit status 2: something is not supported; the program's own is 0"))
        self.assertEqual(
            last(run("--unsupported-exitcode", "77", "--", "./shared", "refused-call")),
            (77, "exit status 77: something is not supported; the program's own is 0"))
        status, line = last(run("--json", "/dev/full", "--", "./shared", "race"))
        self.assertEqual(
            (status, line),
            (2, "exit status 2: a report could not be written; the program's own is 0"))

    def test_a_killed_program_has_its_launches_counted(self):
        result = run("--", "./shared", "many-killed")
        self.assertEqual(result.returncode, 128 + signal.SIGKILL)
        self.assertIn("========= no findings; 300 launches of 1 kernel\n", result.stderr)

    def test_a_run_that_dies_does_not_end_the_others(self):
        result = run("--runs", "3", "--", "./shared", "crash")
        self.assertEqual(result.returncode, 128 + signal.SIGSEGV)
        self.assertIn("./shared was killed by signal 11 (Segmentation fault) in run 3\n",
                      result.stderr)
        self.assertIn("========= no findings; 3 launches of 1 kernel; 3 runs\n", result.stderr)

    def test_each_run_gets_all_of_the_input(self):
        text = "one\ntwo\n"
        result = run("--runs", "3", "--", "./shared", "echo", input=text)
        self.assertEqual(result.stdout, 3 * "<one>\n<two>\n")
        (HERE / "text.txt").write_text("left out\n" + text)
        with open(HERE / "text.txt") as file:
            os.lseek(file.fileno(), len("left out\n"), os.SEEK_SET)
            result = run("--runs", "2", "--", "./shared", "echo", stdin=file)
        self.assertEqual(result.stdout, 2 * "<one>\n<two>\n")

    def test_each_run_gets_all_of_a_large_input(self):
        text = 3_000_000 * "0123456789"
        result = run("--runs", "2", "--", "./shared", "length", input=text)
        self.assertEqual(result.stdout, 2 * f"{len(text)}\n")

    def test_input_that_nobody_reads_and_that_never_ends(self):
        reading, writing = os.pipe()
        os.write(writing, 1000 * b"a line\n")
        result = run("--runs", "2", "--", "./shared", "clean", "0", stdin=reading)
        os.close(writing)
        os.close(reading)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_input_from_nowhere(self):
        for source in ("/dev/null", "/dev/zero"):
            with open(source) as file:
                result = run("--runs", "2", "--", "./shared", "clean", "0", stdin=file)
            self.assertEqual(result.returncode, 0, result.stderr)
        result = run("--runs", "2", "--", "./shared", "length", stdin=subprocess.DEVNULL)
        self.assertEqual(result.stdout, "0\n0\n")

    def test_a_program_without_cuda(self):
        result = run("--", "true")
        self.assertEqual(result.returncode, 0)
        self.assertIn("========= the program never loaded the CUDA runtime library", result.stderr)


class Manual(unittest.TestCase):
    def test_the_sessions_of_the_manual_are_what_is_printed(self):
        page = pathlib.Path(SOURCES, "docs", "use", "exec.md").read_text()
        source = re.search(r"^```cuda\n(.*?)^```", page, re.DOTALL | re.MULTILINE).group(1)
        sessions = re.findall(r"^```\n(\$ .*?)^```", page, re.DOTALL | re.MULTILINE)
        self.assertEqual(len(sessions), 2)
        session = "".join(sessions)
        directory = HERE / "manual"
        directory.mkdir()
        (directory / "sums.cu").write_text(source)
        shell = {**os.environ, "PATH": os.pathsep.join(
            [str(pathlib.Path(WARPCHECK).parent), str(pathlib.Path(NVCC).parent),
             os.environ["PATH"]])}
        printed = ""
        for line in (line for line in session.splitlines() if line.startswith("$ ")):
            result = subprocess.run(line[2:], shell=True, cwd=directory, env=shell, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            printed += f"{line}\n{result.stdout}"
        self.assertEqual(printed, session)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
