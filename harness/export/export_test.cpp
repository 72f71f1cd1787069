#include "harness/export/export.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/export/source_text.hpp"
#include "harness/report/kernel_signature.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// --- names --------------------------------------------------------------------------------------

TEST(KernelSignature, IsReadFromTheMangledName) {
  const KernelSignature plain = signature_of("_Z11scan_kernelPKiPii");
  EXPECT_EQ(plain.name, "scan_kernel");
  ASSERT_TRUE(plain.parameters);
  EXPECT_EQ(*plain.parameters, (std::vector<std::string>{"int const*", "int*", "int"}));
  const KernelSignature instance = signature_of("_Z11scan_kernelI3SumfEvPKT0_PS1_");
  EXPECT_EQ(instance.name, "scan_kernel<Sum, float>");
  EXPECT_EQ(*instance.parameters, (std::vector<std::string>{"float const*", "float*"}));
}

TEST(KernelSignature, LeavesUnnamedNamespacesOut) {
  EXPECT_EQ(
      signature_of("_ZN46_GLOBAL__N__a8677abc_13_kernel_new_cu_01ef295727kernel_new_published_"
                   "kernelEPKjPji")
          .name,
      "kernel_new_published_kernel");
  EXPECT_EQ(signature_of("_ZN12_GLOBAL__N_13runEv").name, "run");
}

TEST(KernelSignature, OfAPlainNameTellsNoParameters) {
  EXPECT_EQ(signature_of("store").name, "store");
  EXPECT_FALSE(signature_of("store").parameters);
}

// --- sources ------------------------------------------------------------------------------------

class Sources : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_ / "kernels"); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  const TemporaryDirectory temporary_;
  const fs::path root_ = temporary_.path();
};

TEST_F(Sources, OwnHeadersAreWrittenInOnceAndLinesStayAsTheyAre) {
  write("kernels/a.hpp", "#pragma once\nint a;\n");
  write("kernels/a.cu",
        "#include \"kernels/a.hpp\"\n#include \"a.hpp\"\n#include <vector>\nint b;\n");
  SourceText text(root_);
  text.add(root_ / "kernels/a.cu");
  text.add(root_ / "kernels/a.cu");
  EXPECT_EQ(text.text(),
            "#line 1 \"kernels/a.cu\"\n"
            "#line 1 \"kernels/a.hpp\"\n\nint a;\n"
            "#line 2 \"kernels/a.cu\"\n"
            "#line 3 \"kernels/a.cu\"\n"
            "#include <vector>\nint b;\n");
}

TEST_F(Sources, HeadersAreSearchedInFurtherDirectories) {
  write("a.cu", "#include \"a.hpp\"\n#include <deep/b.hpp>\n#include <a.hpp>\n#include <vector>\n");
  write("first/a.hpp", "int a;\n");
  write("second/a.hpp", "int other;\n");
  write("second/deep/b.hpp", "int b;\n");
  SourceText text(root_);
  text.search_in((root_ / "first").string() + ";" + (root_ / "second").string());
  text.add(root_ / "a.cu");
  EXPECT_EQ(text.text(),
            "#line 1 \"a.cu\"\n"
            "#line 1 \"first/a.hpp\"\nint a;\n"
            "#line 2 \"a.cu\"\n"
            "#line 1 \"second/deep/b.hpp\"\nint b;\n"
            "#line 3 \"a.cu\"\n"
            "#line 1 \"first/a.hpp\"\nint a;\n"
            "#line 4 \"a.cu\"\n"
            "#include <vector>\n");
}

TEST_F(Sources, WhatIsNotThereStaysAnInclude) {
  write("a.cu", "#include \"elsewhere.hpp\"\n");
  SourceText text(root_);
  text.add(root_ / "a.cu");
  EXPECT_EQ(text.text(), "#line 1 \"a.cu\"\n#include \"elsewhere.hpp\"\n");
}

TEST_F(Sources, HeadersThatIncludeEachOtherEnd) {
  write("a.hpp", "#include \"b.hpp\"\n");
  write("b.hpp", "#include \"a.hpp\"\n");
  SourceText text(root_);
  text.add(root_ / "a.hpp");
  EXPECT_TRUE(has(text.text(), "#line 1 \"b.hpp\""));
}

TEST_F(Sources, AMissingFileIsNamed) {
  SourceText text(root_);
  try {
    text.add(root_ / "no.cu");
    FAIL();
  } catch (const SourceError& error) {
    EXPECT_TRUE(has(error.what(), "no.cu: No such file")) << error.what();
  }
}

// --- programs -----------------------------------------------------------------------------------

template <class T>
cudart::HostBytes bytes_of(const T& value, std::vector<cudart::HostBytes::Pointer> pointers = {}) {
  cudart::HostBytes bytes{std::vector<std::byte>(sizeof value), std::move(pointers)};
  std::memcpy(bytes.bytes.data(), &value, sizeof value);
  return bytes;
}

ExportedCase scan_of_two() {
  ExportedCase exported;
  exported.title = "scan";
  exported.options = "-lineinfo";
  const std::int32_t in[] = {5, -1};
  const std::uint64_t pointer = 0;
  exported.calls = {
      cudart::AllocateCall{0, 8, ""},
      cudart::UploadCall{{0, 0}, bytes_of(in)},
      cudart::LaunchCall{
          "_Z11scan_kernelPiS_if",
          {},
          {2, 1, 1},
          {1, 2, 1},
          16,
          {bytes_of(pointer, {{0, {0, 4}}}), bytes_of(pointer), bytes_of(-7), bytes_of(1.0F)}},
      cudart::DownloadCall{{0, 0}, 8, std::vector<std::byte>(8)},
      cudart::FreeCall{{0, 0}},
  };
  exported.expected = ExpectedDownloads{0,
                                        0,
                                        {"std::int32_t", 4, bytes_of(in).bytes},
                                        "std::int32_t",
                                        {Comparison::equal_values, {}, 0, false}};
  return exported;
}

TEST(Program, MakesTheCallsInTheirOrder) {
  const std::string text = program_text(scan_of_two(), "scan.cu");
  EXPECT_TRUE(has(text, "static const std::int32_t data0[] = {5, -1};")) << text;
  EXPECT_TRUE(has(text,
                  "  char* const memory0 = exported::allocate(8);\n"
                  "  exported::upload(memory0, data0, 8);\n"
                  "  scan_kernel<<<2, dim3(1, 2, 1), 16>>>(reinterpret_cast<int*>(memory0 + 4), "
                  "nullptr, -7, exported::from_bytes<float>({0x00, 0x00, 0x80, 0x3f}));\n"))
      << text;
  EXPECT_TRUE(
      has(text, "  exported::download(result0, memory0, 8);\n  exported::release(memory0);\n"))
      << text;
  EXPECT_TRUE(has(text, "//   nvcc -std=c++20 -lineinfo -arch=native scan.cu -o scan\n")) << text;
}

TEST(Program, SaysWhyItComparesNothing) {
  ExportedCase exported = scan_of_two();
  exported.expected.reset();
  exported.not_compared = "the moon is full";
  const std::string text = program_text(exported, "scan.cu");
  EXPECT_TRUE(has(text, "// Not compared: the moon is full.")) << text;
  EXPECT_TRUE(has(text, "constexpr bool kCompared = false;")) << text;
}

TEST(Program, NeedsALaunch) {
  ExportedCase exported = scan_of_two();
  exported.calls.resize(2);
  EXPECT_THROW((void)program_text(exported, "scan.cu"), ExportError);
}

TEST(Program, ALineOfTheInputDoesNotLeaveItsComment) {
  ExportedCase exported = scan_of_two();
  exported.summary = "text \"a\\\nint main;\"";
  const std::string text = program_text(exported, "scan.cu");
  EXPECT_FALSE(has(text, "\nint main;"));
}

}  // namespace
}  // namespace warpcheck
