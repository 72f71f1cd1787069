#!/usr/bin/env bash
# The speed of PoCL's native code for the measured kernels, on one core, the shortest of many
# launches:
#
#   bench/pocl.sh [HOST [ELEMENTS]]     HOST: build/bench/opencl_host
#
# One line a kernel: "KERNEL MILLISECONDS".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
host=${1:-$here/../build/bench/opencl_host}
elements=${2:-262144}
launches=200

vendor=/etc/OpenCL/vendors/pocl.icd
if [[ ! -f $vendor ]]; then
  echo "pocl.sh: PoCL is not installed (Debian package pocl-opencl-icd)" >&2
  exit 2
fi
if [[ ! -x $host ]]; then
  echo "pocl.sh: no program $host; build the target opencl_host" >&2
  exit 2
fi

for kernel in block_scan histogram tree_reduction; do
  OCL_ICD_VENDORS=$vendor POCL_MAX_PTHREAD_COUNT=1 \
    "$host" "$kernel" "$here/kernels" "$elements" "$launches" | awk '{ print $1, $3 }'
done
