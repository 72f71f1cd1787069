#!/bin/bash -eu
exec "$SRC/warpcheck/ci/oss-fuzz/build.sh"
