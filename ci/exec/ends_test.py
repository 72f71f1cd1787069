"""How `warpcheck exec` and its program end: ends_test.py WARPCHECK NVCC SOURCE_DIRECTORY.

Signals, kills, the terminal's job control, and the files that are left.  The program is that of
programs_test.py.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from exec_testing import HERE, PROGRAMS, WARPCHECK, link, run, run_that_is_timed_out


def setUpModule():
    link(PROGRAMS, "shared", "-cudart", "shared")


def is_running(process):
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def child_of(process):
    """Its only one."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return int(children)


def wait_until(condition):
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.1)
    return False


class Ends(unittest.TestCase):
    """However `exec` ends, the program ends as well, and its findings are in the reports."""

    def begin(self, *words, **more):
        self.json = HERE / "ends.json"
        self.json.unlink(missing_ok=True)
        process = subprocess.Popen([WARPCHECK, "exec", "--json", str(self.json), "--", *words],
                                   cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, **more)
        self.program = int(process.stdout.readline())
        self.assertTrue(is_running(self.program))
        return process

    def assert_all_is_told_and_nothing_left(self):
        self.assertTrue(wait_until(lambda: not is_running(self.program)))

        def is_told():
            if not self.json.exists():
                return False
            report = json.loads(self.json.read_text())
            return [each["kind"] for each in report["findings"]] == ["data-race"]
        self.assertTrue(wait_until(is_told))

    def script(self):
        script = HERE / "starts"
        script.write_text("#!/bin/sh\nsh -c './shared race-wait; true' &\nwait\n")
        script.chmod(0o755)
        return "./starts"

    def test_killed(self):
        for words in (["./shared", "race-wait"], [self.script()]):
            with self.subTest(words):
                process = self.begin(*words)
                process.kill()
                self.assertIn("========= data-race on shared memory", process.communicate()[1])
                self.assertEqual(process.returncode, -signal.SIGKILL)
                self.assert_all_is_told_and_nothing_left()

    def test_killed_with_its_process_group(self):
        process = self.begin(self.script(), start_new_session=True)
        os.killpg(process.pid, signal.SIGKILL)
        self.assertIn("========= data-race on shared memory", process.communicate()[1])
        self.assert_all_is_told_and_nothing_left()

    def test_the_process_that_watches_is_killed(self):
        process = self.begin("./shared", "race-wait")
        # Findings are written while the program runs.
        self.assertTrue(wait_until(self.json.exists))
        os.kill(child_of(process), signal.SIGKILL)
        self.assertIn("the process that watches the program was killed by signal 9",
                      process.communicate()[1])
        self.assertEqual(process.returncode, 128 + signal.SIGKILL)
        self.assert_all_is_told_and_nothing_left()
        report = json.loads(self.json.read_text())
        self.assertEqual(report["claims"][0]["found"], ["data-race"])

    def test_asked_to_end(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for words in (["./shared", "race-wait"], [self.script()]):
                with self.subTest((number, words)):
                    process = self.begin(*words)
                    process.send_signal(number)
                    report = process.communicate()[1]
                    self.assertIn("========= data-race on shared memory", report)
                    self.assertIn("========= 1 error; 1 launch of 1 kernel\n", report)
                    self.assertEqual(process.returncode, 66)
                    self.assert_all_is_told_and_nothing_left()

    def test_the_interrupt_key(self):
        process = self.begin("./shared", "race-wait", start_new_session=True)
        os.killpg(process.pid, signal.SIGINT)
        self.assertIn("========= data-race on shared memory", process.communicate()[1])
        self.assertEqual(process.returncode, 66)
        self.assert_all_is_told_and_nothing_left()

    def test_no_further_run_begins(self):
        process = subprocess.Popen([WARPCHECK, "exec", "--runs", "5", "--", "./shared",
                                    "race-wait"], cwd=HERE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        self.assertIn("========= interrupted: the findings up to then are above\n",
                      process.communicate()[1])

    def test_files_for_the_time_being_are_gone(self):
        directory = HERE / "temporary"
        directory.mkdir()
        process = self.begin("./shared", "race-wait",
                             env={**os.environ, "TMPDIR": str(directory)})
        self.assertEqual(len(list(directory.iterdir())), 1)
        process.kill()
        process.communicate()
        self.assertTrue(wait_until(lambda: not list(directory.iterdir())))

    def test_an_empty_name_of_their_directory_is_none(self):
        process = self.begin("./shared", "race-wait", env={**os.environ, "TMPDIR": ""})
        process.send_signal(signal.SIGTERM)
        self.assertIn("data-race", process.communicate()[1])

    def test_files_are_gone_if_the_process_that_watches_is_killed(self):
        with tempfile.TemporaryDirectory(dir=HERE) as name:
            process = self.begin("./shared", "race-wait", env={**os.environ, "TMPDIR": name})
            os.kill(child_of(process), signal.SIGKILL)
            process.communicate()
            self.assertEqual(os.listdir(name), [])

    def test_files_are_gone_after_the_next_command_if_both_processes_are_killed(self):
        with tempfile.TemporaryDirectory(dir=HERE) as name:
            environment = {**os.environ, "TMPDIR": name}
            process = self.begin("./shared", "race-wait", env=environment, preexec_fn=os.setpgrp)
            watches = child_of(process)
            process.send_signal(signal.SIGSTOP)
            os.kill(watches, signal.SIGKILL)
            process.kill()
            process.communicate()
            self.assertTrue(wait_until(lambda: not is_running(self.program)))
            (left,) = os.listdir(name)
            other = self.begin("./shared", "race-wait", env=environment)
            (running,) = os.listdir(name)
            self.assertNotEqual(left, running)
            # The files of a command that runs are not touched.
            run("--", "./shared", "clean", "0", env=environment)
            self.assertEqual(os.listdir(name), [running])
            other.kill()
            other.communicate()

    def test_a_process_that_outlives_the_program_is_waited_for(self):
        script = HERE / "leaves"
        script.write_text("#!/bin/sh\nmkfifo begun\n./shared race-begun &\nread line < begun\n")
        script.chmod(0o755)
        self.assertEqual(run("--", "./leaves").returncode, 66)


class LongRuns(unittest.TestCase):
    def test_a_run_that_takes_too_long(self):
        result = run_that_is_timed_out("--", "./shared", "long", until="2 of 64 blocks done")
        self.assertEqual(result.stderr, """\
========= warpcheck exec: ./shared
========= it was running kernel compute, 2 of 64 blocks done
========= no findings; 1 launch of 1 kernel
========= timed out (--timeout): the findings up to then are above
========= exit status 124: timed out
""")
        self.assertEqual(result.returncode, 124)

    def test_a_run_that_is_interrupted(self):
        report = HERE / "report.json"
        report.unlink(missing_ok=True)
        process = subprocess.Popen([WARPCHECK, "exec", "--json", str(report), "--", "./shared", "long"],
                                   cwd=HERE, stderr=subprocess.PIPE, text=True)
        while not report.exists():  # the launch is new data for the report
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.assertRegex(process.communicate()[1], """\
========= warpcheck exec: ./shared
========= ./shared was killed by signal 2 .Interrupt.
========= it was running kernel compute, [0-2] of 64 blocks done
========= no findings; 1 launch of 1 kernel
========= exit status 130: the program's own
""")
        self.assertEqual(process.returncode, 128 + signal.SIGINT)

    def test_a_job_is_put_aside_and_taken_up_again(self):
        # Whoever is stopped has a group of its own: if the group of the tests is orphaned, the kernel hangs it up
        # when another of its processes ends in the meantime.
        process = subprocess.Popen([WARPCHECK, "exec", "--", "./shared", "job"], cwd=HERE, preexec_fn=os.setpgrp,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTSTP)
        self.assertEqual(process.stdout.readline(), "stop\n")
        self.assertTrue(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]))
        process.send_signal(signal.SIGCONT)
        self.assertEqual(process.stdout.readline(), "continue\n")
        process.send_signal(signal.SIGTERM)
        self.assertIn("was killed by signal 15", process.communicate()[1])
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)


class IgnoredSignals(unittest.TestCase):
    def test_whoever_starts_it_may_ignore_the_ends_of_children(self):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        result = run("--", "./shared", "clean", "7", preexec_fn=ignore)
        self.assertEqual(result.returncode, 7, result.stderr)
        # The program ignores them as well.
        result = run("--", "grep", "SigIgn", "/proc/self/status", preexec_fn=ignore)
        self.assertTrue(int(result.stdout.split()[1], 16) & 1 << (signal.SIGCHLD - 1), result.stdout)


class SeveralThreads(unittest.TestCase):
    def test_a_timeout_leaves_nothing_running(self):
        result = run("--jobs", "3", "--timeout", "1", "--", "./shared", "long-of-many")
        self.assertEqual(result.returncode, 124, result.stderr)

    def test_ctrl_c_leaves_nothing_running(self):
        process = subprocess.Popen([WARPCHECK, "exec", "--jobs", "3", "--", "./shared", "long-of-many"],
                                   cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        program = None
        while program is None:
            program = next((int(entry.name) for entry in pathlib.Path("/proc").iterdir()
                            if entry.name.isdigit() and is_program(entry)), None)
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        process.wait()
        self.assertFalse(pathlib.Path(f"/proc/{program}").exists())

    def test_wrong_numbers_are_refused(self):
        for jobs in ("0", "-1", "many", "1000000"):
            result = run("--jobs", jobs, "--", "./shared", "clean", "0")
            self.assertEqual(result.returncode, 2, jobs)
            self.assertIn("--jobs", result.stderr)


def is_program(entry):
    try:
        words = (entry / "cmdline").read_bytes().split(b"\0")
        return words[:2] == [b"./shared", b"long-of-many"] and os.readlink(entry / "cwd") == str(HERE)
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
