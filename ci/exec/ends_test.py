"""How `warpcheck exec` and its program end: ends_test.py WARPCHECK NVCC SOURCE_DIRECTORY.

The program is that of programs_test.py.
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

from exec_testing import HERE, WARPCHECK, Source, build, run

Source("programs.cu", "programs.cu")


def setUpModule():
    build("programs.cu", "shared", "-cudart", "shared")


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

    def test_files_are_gone_if_the_process_that_watches_is_killed(self):
        with tempfile.TemporaryDirectory(dir=HERE) as name:
            process = self.begin("./shared", "race-wait", env={**os.environ, "TMPDIR": name})
            os.kill(child_of(process), signal.SIGKILL)
            process.communicate()
            self.assertEqual(os.listdir(name), [])

    def test_files_are_gone_after_the_next_command_if_both_processes_are_killed(self):
        with tempfile.TemporaryDirectory(dir=HERE) as name:
            environment = {**os.environ, "TMPDIR": name}
            process = self.begin("./shared", "race-wait", env=environment)
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
