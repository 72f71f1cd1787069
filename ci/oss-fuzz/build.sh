#!/bin/bash -eu
# Builds the fuzz targets by the contract of OSS-Fuzz and ClusterFuzzLite: with $CC, $CXX, $CXXFLAGS
# and $LIB_FUZZING_ENGINE, from $SRC/warpcheck, in $WORK, into $OUT; next to each target X,
# X_seed_corpus.zip, X.dict and X.options.  docs/use/fuzzing-services.md describes its use.
#
# WARPCHECK_TARGETS: names of targets, to build only these.  Default: every clean pair, the PTX
# parser and the reader of case files.  WARPCHECK_PREBUILT: a build directory from which the virtual
# GPU, the harness and the entry of targets are taken, for a fast test.
repository=$SRC/warpcheck
build=$WORK/warpcheck
here=$repository/ci/oss-fuzz

# Targets run in another image: only the C library may be shared.
linker_flags=
[[ $CXXFLAGS == *-stdlib=libc++* ]] || linker_flags='-static-libstdc++ -static-libgcc'
cmake -S "$repository" -B "$build" -G Ninja \
  -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
  -DCMAKE_EXE_LINKER_FLAGS="$linker_flags" -DCMAKE_BUILD_TYPE= \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8 \
  -DWARPCHECK_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" -DWARPCHECK_SERVICE=ON -DWARPCHECK_WERROR=OFF \
  -DWARPCHECK_PREBUILT="${WARPCHECK_PREBUILT:-}"

# Specimens always fail, so a service would report them for ever.
targets=${WARPCHECK_TARGETS:-}
if [[ -z $targets ]]; then
  ninja -C "$build" clean_fuzz_targets
  targets=$("$build/fuzz/targets/clean_fuzz_targets")
  targets+=' ptx_parse_fuzzer case_reader_fuzzer'
fi
# shellcheck disable=SC2086  # a list
ninja -C "$build" $targets

for target in $targets; do
  case $target in
    ptx_parse_fuzzer)
      program=$build/fuzz/targets/$target seeds=$repository/fuzz/ptx_parse_corpus
      dictionary=$here/ptx_parse_fuzzer.dict ;;
    case_reader_fuzzer)
      program=$build/fuzz/targets/$target seeds=$repository/fuzz/case_reader_corpus
      dictionary=$repository/fuzz/case_reader.dict ;;
    *)
      program=$build/fuzz/targets/$target seeds=$here/pair_seeds dictionary=$here/pairs.dict ;;
  esac
  cp "$program" "$OUT/$target"
  cp "$dictionary" "$OUT/$target.dict"
  cp "$here/targets.options" "$OUT/$target.options"
  rm -f "$OUT/${target}_seed_corpus.zip"
  (cd "$seeds" && zip -q -X "$OUT/${target}_seed_corpus.zip" -- *)
done
