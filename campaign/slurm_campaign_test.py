#!/usr/bin/env python3
"""A campaign of four tasks over every second specimen, under a real Slurm: slurmctld and two slurmd on this
machine's loopback addresses.  Tasks are killed or requeued fifty times, at moments drawn from a fixed seed, and one
machine is drained.  Every finding that any task has printed is in the merged store, once, and
every kind that the specimens expect is confirmed there.

usage: slurm_campaign_test.py WARPCHECK REPOSITORY
"""
import getpass
import os
import pathlib
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

from campaign_testing import expected_of_half, seed_corpora

KILLS = 50
DOWN_AFTER = 35       # kills; then one of the two machines is drained
REQUEUE_EVERY = 5     # the others are SIGKILL for the search
TASKS = 4
WAIT_SECONDS = 300    # longest wait for an event

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket,cred_expire=5
CryptoType=crypto/munge
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool-%n
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldPidFile={root}/slurmctld.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.2 Port={ports[2]} CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_until(condition, what):
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.1)


class Cluster:
    """Slurm's daemons, during a `with` statement."""

    def __init__(self, root):
        self.root = root
        self.environment = {**os.environ, "SLURM_CONF": str(root / "slurm.conf")}
        self.daemons = []

    def __enter__(self):
        munge = self.root / "munge"
        munge.mkdir(mode=0o700)
        (self.root / "state").mkdir()
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o600)
        (self.root / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], ports=free_ports(3), root=self.root,
            user=getpass.getuser()))
        files = [f"--{name}={munge / value}" for name, value in
                 (("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"),
                  ("seed-file", "seed"))]
        self.start("munged", "--foreground", "--force", *files)
        wait_until((munge / "socket").exists, "munged")
        self.start("slurmctld", "-D")
        for node in ("n1", "n2"):
            self.start("slurmd", "-D", "-N", node)
        wait_until(lambda: self.ask("sinfo", "-h", "-o", "%D %t").strip() == "2 idle", "the machines")
        return self

    def __exit__(self, *_):
        self.ask("scancel", "--user", getpass.getuser(), "--signal=KILL", "--full")
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            daemon.wait()

    def start(self, name, *arguments):
        program = next(str(path) for path in (pathlib.Path("/usr/sbin", name), pathlib.Path("/usr/bin", name))
                       if path.exists())
        self.daemons.append(subprocess.Popen(
            [program, *arguments], env=self.environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True))

    def ask(self, *command):
        return subprocess.run(command, env=self.environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False).stdout

    def running(self, job):
        """Numbers of the job's running tasks."""
        return [int(line) for line in self.ask("squeue", "-h", "-j", job, "-t", "R", "-o", "%K").split()
                if line.isdigit()]


def searches(directory, task):
    """Processes of a task's search, its campaign first."""
    pattern = f"campaign {directory} --node {task}/{TASKS} "
    found = subprocess.run(["pgrep", "-of", re.escape(pattern)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def disturb(cluster, directory, job, moments):
    """Returns how often a task was killed, requeued, or lost its machine."""
    disturbed = 0
    while disturbed < KILLS:
        time.sleep(moments.uniform(0, 0.5))
        tasks = cluster.running(job)
        if not tasks:
            if not cluster.ask("squeue", "-h", "-j", job).strip():
                break  # everything is found
            continue
        task = moments.choice(tasks)
        if disturbed == DOWN_AFTER:
            cluster.ask("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=taken away")
        elif disturbed % REQUEUE_EVERY == 0:
            if cluster.ask("scontrol", "requeue", f"{job}_{task}").strip():
                continue
        else:
            processes = searches(directory, task)
            if not processes:
                continue
            os.kill(processes[0], signal.SIGKILL)
        disturbed += 1
    return disturbed


def printed(directory):
    """{(pair, hash)} of the findings that tasks printed."""
    return {(pair, finding) for log in directory.glob("nodes/*/slurm.log")
            for finding, pair in re.findall(r"^\S+  found +([0-9a-f]{16}) (\S+) ", log.read_text(), re.MULTILINE)}


def stored(directory):
    """[(pair, hash, kind, stage)]"""
    with sqlite3.connect(directory / "warpcheck.db") as database:
        return database.execute("SELECT pair, hash, kind, stage FROM findings").fetchall()


def main():
    warpcheck, repository = sys.argv[1], pathlib.Path(sys.argv[2])
    expected = expected_of_half(warpcheck, 0)
    specimens = sorted({pair for pair, _ in expected})
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch) / "night"
        seed_corpora(directory, repository, specimens)
        options = ["--pairs", ",".join(specimens), "--jobs", "1", "--shrink-trials", "300"]
        with Cluster(pathlib.Path(scratch)) as cluster:
            submitted = subprocess.run(
                [warpcheck, "campaign", str(directory), "--slurm", str(TASKS), "--stop-when-found", *options],
                env=cluster.environment, capture_output=True, text=True, check=True).stdout
            job = re.match(r"job (\d+) of 4 tasks\n", submitted).group(1)
            wait_until(lambda: len(cluster.running(job)) == TASKS, "the tasks")
            disturbed = disturb(cluster, directory, job, random.Random(20260101))
            merge = [warpcheck, "campaign", str(directory), *options]
            early = subprocess.run(merge, capture_output=True, text=True)  # while tasks run
            assert early.returncode == 1, early
            wait_until(lambda: not cluster.ask("squeue", "-h", "-j", job).strip(), cluster.ask("squeue"))
        final = subprocess.run(merge, capture_output=True, text=True)
        assert final.returncode == 1, final
        findings = stored(directory)
        keys = [row[:2] for row in findings]
        assert len(keys) == len(set(keys)), keys
        lost = printed(directory) - set(keys)
        assert printed(directory) and not lost, f"printed and not in the merged store: {lost}"
        confirmed = {(pair, kind) for pair, _, kind, stage in findings if stage == "confirmed"}
        assert expected <= confirmed, f"missing: {expected - confirmed}\n{final.stdout}"
        unexpected = {(pair, kind) for pair, _, kind, _ in findings} - expected
        assert not unexpected, unexpected
        print(f"{disturbed} disturbances; {len(printed(directory))} findings were printed, "
              f"{len(findings)} are in the merged store")


if __name__ == "__main__":
    main()
