#!/usr/bin/env bash
# Whether feedback guides the search: the two planted pairs, 10 seeds each, with feedback and
# without, in equal numbers of executions.  Exits 0 if all are found with it and none without.
#
#   bench/feedback.sh [BUILD_DIRECTORY [--seeds N] [--executions N]]      default: build
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build}
cmake --build "$build" --target feedback_matters >&2
exec "$build/fuzz/feedback_matters" "${@:2}"
