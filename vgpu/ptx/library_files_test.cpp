#include "vgpu/ptx/library_files.hpp"

#include <gtest/gtest.h>

#include <string>

namespace warpcheck::ptx {
namespace {

constexpr const char* kOfCub = "_ZN3cub17CUB_300001_SM_8009BlockScanIiLi256EE4LoadEv";
constexpr const char* kOfOldCub = "_ZN3cub9BlockScanIiLi256EE4LoadEv";
constexpr const char* kOfThrust = "_ZNK6thrust23THRUST_300001_SM_800_NS6system6detail3addEv";
constexpr const char* kOfLibcu = "_ZNR4cuda3std3__410__not_fn_tI3oddEclIJRiEELb1EE";

TEST(LibraryFiles, AreNamedAsProgramsIncludeThem) {
  EXPECT_EQ(library_include_name("/p/cccl-src/cub/block/block_scan.cuh", kOfCub),
            "cub/block/block_scan.cuh");
  EXPECT_EQ(library_include_name("_deps/cccl-src/cub/cub/util_ptx.cuh", kOfCub),
            "cub/util_ptx.cuh");
  EXPECT_EQ(library_include_name("/p/thrust/thrust/system/cuda/detail/a.h", kOfThrust),
            "thrust/system/cuda/detail/a.h");
  EXPECT_EQ(library_include_name("/p/libcudacxx/include/cuda/std/__functional/not_fn.h", kOfLibcu),
            "cuda/std/__functional/not_fn.h");
}

TEST(LibraryFiles, NeedFolderAndNamespace) {
  EXPECT_EQ(library_include_name("/p/cub/sums.cuh", "_Z3sumPKi"), "");
  EXPECT_EQ(library_include_name("/p/cub/block/block_scan.cuh", "_ZN4mine3cub4scanEv").empty(),
            false);  // a release in a namespace of the program's
  EXPECT_EQ(library_include_name("/p/cub/sums.cuh", "_ZN3cub3sumEPKi"), "");
  EXPECT_EQ(library_include_name("/p/sums.cu", kOfCub), "");
  EXPECT_EQ(library_include_name("/p/sums.cu", "_ZN3cub3sumEPKi"), "");
  EXPECT_EQ(library_include_name("/p/cuda/sums.cuh", "_ZN4cuda3sumEPKi"), "");
  EXPECT_EQ(library_include_name("/p/thrust/engine.h", "_ZN6thrust5forceEPKi"), "");
  EXPECT_EQ(library_include_name("/p/my_cub/block/block_scan.cuh", kOfCub), "");
}

TEST(LibraryFiles, FunctionsInTheNamespaceOfAVersionNeedNoFile) {
  EXPECT_TRUE(is_library_function("_ZN6thrust23THRUST_300001_SM_750_NS6system4freeEPv"));
  EXPECT_TRUE(is_library_function("_ZNK3cub17CUB_300001_SM_8006detail5chainEv"));
  EXPECT_TRUE(is_library_function("_ZN4cuda3std3__44swapEv"));
  EXPECT_TRUE(is_library_function("_ZN4cuda3__410cuda_errorC2Ev"));
  EXPECT_FALSE(is_library_function("_ZN6thrust5forceEPKi"));
  EXPECT_FALSE(is_library_function("_ZN2my3cub17CUB_300001_SM_8004scanEv"));
  EXPECT_FALSE(is_library_function("main"));
}

TEST(LibraryFiles, OfReleasesWithoutVersionsHaveNamesOfTheLayout) {
  EXPECT_EQ(library_include_name("/p/cub/block/block_scan.cuh", kOfOldCub),
            "cub/block/block_scan.cuh");
  EXPECT_EQ(library_include_name("/p/cub/block/sums.cuh", kOfOldCub), "");
}

TEST(LibraryFiles, OfAModuleAreKnownByTheNamesOfInlinedFunctions) {
  std::string bytes;
  for (const char c : std::string(kOfCub)) bytes += std::to_string(static_cast<int>(c)) + ",";
  EXPECT_EQ(known_library_file("/test/cub/block/block_load.cuh"), "");
  parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.loc 1 10 3\n"
      "ret;\n.loc 2 20 5, function_name $L__info_string3, inlined_at 1 10 3\nret;\n"
      ".loc 3 20 5, function_name $L__info_string4, inlined_at 1 10 3\nret;\n}\n"
      ".file 1 \"/test/k.cu\"\n.file 2 \"/test/cub/block/block_load.cuh\"\n"
      ".file 3 \"/test/cub/mine.cuh\"\n"
      ".section .debug_str\n{\n$L__info_string3:\n.b8 " +
          bytes + "0\n$L__info_string4:\n.b8 95,90,49,97,118,0\n}\n",
      "t");
  EXPECT_EQ(known_library_file("/test/cub/block/block_load.cuh"), "cub/block/block_load.cuh");
  EXPECT_EQ(known_library_file("/test/cub/mine.cuh"), "");
  EXPECT_EQ(known_library_file("/test/k.cu"), "");
}

}  // namespace
}  // namespace warpcheck::ptx
