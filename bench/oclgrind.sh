#!/usr/bin/env bash
# The speed of Oclgrind on the measured kernels, in million work-item instructions a second on one
# thread: its own count (--inst-counts) divided by the time of the launch.
#
#   bench/oclgrind.sh [HOST [ELEMENTS]]     HOST: build/bench/opencl_host
#
# One line a kernel and mode: "KERNEL MODE MILLIONS_PER_SECOND MILLISECONDS"; the modes are plain,
# data-races and data-races+uninitialized.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
host=${1:-$here/../build/bench/opencl_host}
elements=${2:-262144}

if ! command -v oclgrind >/dev/null; then
  echo "oclgrind.sh: oclgrind is not installed (Debian package oclgrind)" >&2
  exit 2
fi
if [[ ! -x $host ]]; then
  echo "oclgrind.sh: no program $host; build the target opencl_host" >&2
  exit 2
fi

# Counted once with fewer elements: every group executes the same number of instructions.
count_instructions() {
  local counted=4096
  oclgrind --num-threads 1 --inst-counts "$host" "$1" "$here/kernels" $counted |
    tr -d , |
    awk -v scale=$((elements / counted)) '$2 == "-" { sum += $1 } END { print sum * scale }'
}

measure() {
  local kernel=$1 instructions=$2 mode=$3
  shift 3
  oclgrind --num-threads 1 "$@" "$host" "$kernel" "$here/kernels" "$elements" |
    awk -v count="$instructions" -v mode="$mode" \
      '{ printf "%s %s %.1f %s\n", $1, mode, count / $3 / 1000, $3 }'
}

for kernel in block_scan histogram tree_reduction; do
  instructions=$(count_instructions "$kernel")
  measure "$kernel" "$instructions" plain
  measure "$kernel" "$instructions" data-races --data-races
  measure "$kernel" "$instructions" data-races+uninitialized --data-races --uninitialized
done
