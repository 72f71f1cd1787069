#!/usr/bin/env python3
"""The Debian package, in a fresh Debian.

  package_test.py CMAKE BUILD_DIRECTORY REPOSITORY TOOLKIT_DIRECTORY

Builds the package, and installs it with apt into a minimal root that debootstrap makes.  There, with nothing else
but the CUDA Toolkit, it tests: version, manual page, completion; the five commands of README.md, of which the last two
find and replay a planted bug; and `exec` of a program that nvcc built.
"""
import os
import pathlib
import re
import shutil
import sys
import tempfile

from installed_testing import PROGRAM, expect, expect_same_report, five_commands, run

# Runs as root with its own mounts, which end with the process.
INSIDE = """
set -e
mount --bind {toolkit} {root}/opt/cuda
mount --rbind /dev {root}/dev
mount -t proc proc {root}/proc
exec chroot {root} /usr/bin/env -i HOME=/root PATH=/opt/cuda/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive sh -c "$1"
"""

class FreshDebian:
    def __init__(self, root, toolkit):
        self.root, self.toolkit = root, toolkit
        self.sudo = [] if os.geteuid() == 0 else ["sudo"]
        release = pathlib.Path("/etc/os-release").read_text()
        suite = re.search(r"VERSION_CODENAME=(\w+)", release).group(1)
        mirror = run(root.parent, ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages",
                      f"Codename: {suite}"]).split()[0]
        run(root.parent, [*self.sudo, "debootstrap", "--variant=minbase", suite, str(root), mirror])
        run(root.parent, [*self.sudo, "mkdir", "-p", str(root / "opt/cuda"), str(root / "work")])

    def __call__(self, script, status=0):
        inside = INSIDE.format(toolkit=self.toolkit, root=self.root)
        return run(self.root.parent, [*self.sudo, "unshare", "--mount", "sh", "-c", inside, "sh", script], status)


def check_package(debian, repository):
    debian("apt-get install -y -q --no-install-recommends /warpcheck.deb")
    version = re.search(r"warpcheck VERSION (\S+) ", (repository / "CMakeLists.txt").read_text()).group(1)
    expect(debian("warpcheck --version"), f"warpcheck {version}")
    expect(debian("dpkg -L warpcheck"), "/usr/share/man/man1/warpcheck.1", "/usr/share/doc/warpcheck/changelog.md", "/usr/share/doc/warpcheck/LICENSE",
           "/usr/share/bash-completion/completions/warpcheck", "/usr/share/zsh/vendor-completions/_warpcheck",
           "/usr/share/fish/vendor_completions.d/warpcheck.fish", "/cmake/warpcheck/warpcheckConfig.cmake")
    expect(debian("warpcheck list"), "scan_hillis_steele_published")
    expect(debian("cd /work && warpcheck check scan_tree --trials 50"), "PASS scan_tree   50 trials")


def check_five_commands(debian, repository):
    *build, check, replay = five_commands(repository)
    debian("cd /work && " + " && ".join(build))
    found = debian(f"cd /work && {check}", status=1)
    expect(found, "FAIL saxpy   after ", "out-of-bounds on global memory", "saxpy.cu:3")
    replayed = debian(f"cd /work && {replay}", status=1)
    expect_same_report(found, replayed)


def check_exec(debian, root):
    (root / "work" / "last.cu").write_text(PROGRAM)
    debian("cd /work && nvcc -lineinfo last.cu -o last")
    expect(debian("cd /work && warpcheck exec -- ./last", status=66), "out-of-bounds on global memory", "last.cu:3")


def main():
    cmake, (build, repository, toolkit) = sys.argv[1], map(pathlib.Path, sys.argv[2:5])
    with tempfile.TemporaryDirectory() as scratch:
        run(build, [str(pathlib.Path(cmake).parent / "cpack"), "-G", "DEB", "-B", scratch])
        package, = pathlib.Path(scratch).glob("warpcheck_*.deb")
        root = pathlib.Path(scratch) / "root"
        debian = FreshDebian(root, toolkit)
        shutil.copy(package, root / "warpcheck.deb")
        check_package(debian, repository)
        check_five_commands(debian, repository)
        check_exec(debian, root)
        print(f"{package.name}, {package.stat().st_size / 2**20:.0f} MiB: installed, and used")


main()
