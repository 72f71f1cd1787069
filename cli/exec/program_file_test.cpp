// Which files `exec` runs, and its messages about others.
#include "cli/exec/program_file.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

class ProgramFileTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& bytes, bool executable = true) {
    const fs::path path = here_ / name;
    std::ofstream(path) << bytes;
    if (executable) fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  static std::string refusal_of(const std::string& name) {
    try {
      (void)find_program(name);
    } catch (const ProgramError& error) {
      return error.what();
    }
    return "";
  }

  const TemporaryDirectory temporary_;
  const fs::path here_ = temporary_.path();
};

TEST_F(ProgramFileTest, WhatCannotBeExecutedIsRefusedByName) {
  const std::string missing = (here_ / "missing").string();
  EXPECT_EQ(refusal_of(missing), missing + ": No such file or directory");
  EXPECT_EQ(refusal_of(here_.string()), here_.string() + ": a directory, not a program");
  EXPECT_EQ(refusal_of("."), ".: a directory, not a program");
  const std::string text = file("text", "hello");
  EXPECT_EQ(refusal_of(text),
            text + ": neither an ELF program for x86-64 nor a script that begins with #!");
  EXPECT_EQ(refusal_of("no-such-program-anywhere"),
            "no-such-program-anywhere: no such program in $PATH");
}

TEST_F(ProgramFileTest, AFileThatIsCutOffIsNoProgram) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes(40, '\0');
  self.read(bytes.data(), 40);
  const std::string path = file("cut", bytes);
  EXPECT_EQ(refusal_of(path),
            path + ": neither an ELF program for x86-64 nor a script that begins with #!");
}

TEST_F(ProgramFileTest, AProgramWithoutItsEndIsDamaged) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes(4096, '\0');
  self.read(bytes.data(), std::ssize(bytes));
  const std::string path = file("damaged", bytes);
  EXPECT_TRUE(refusal_of(path).starts_with(path + ": damaged: it has 4096 bytes, and its program "
                                                  "needs "))
      << refusal_of(path);
}

TEST_F(ProgramFileTest, AnInterpreterThatIsMissingIsNamed) {
  const std::string path = file("script", "#! /no/such -x\necho\n");
  EXPECT_EQ(refusal_of(path), path + ": its interpreter /no/such: No such file or directory");
}

TEST_F(ProgramFileTest, AProgramForAnotherProcessorIsRefusedByName) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes(sizeof(Elf64_Ehdr), '\0');
  self.read(bytes.data(), std::ssize(bytes));
  const std::string takes = "; the virtual GPU takes programs for x86-64";
  bytes[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
  const std::string arm = file("arm", bytes);
  EXPECT_EQ(refusal_of(arm), arm + ": an ELF program for AArch64" + takes);
  bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_PPC64;
  const std::string power = file("power", bytes);
  EXPECT_EQ(refusal_of(power), power + ": an ELF program for processor number 21" + takes);
  bytes[EI_CLASS] = ELFCLASS32;
  const std::string narrow = file("narrow", bytes);
  EXPECT_EQ(refusal_of(narrow), narrow + ": a 32-bit ELF program" + takes);
}

TEST_F(ProgramFileTest, AScriptMayLoadTheLibraryLater) {
  const std::string path = file("script", "#!/bin/sh\n");
  EXPECT_EQ(find_program(path).path, path);
  EXPECT_EQ(find_program(path).runtime, ProgramFile::Runtime::unknown);
}

TEST_F(ProgramFileTest, ANameWithoutASlashIsOfThePath) {
  const std::string path = file("only_here", "#!/bin/sh\n");
  file("sub", "");
  const char* const before = std::getenv("PATH");
  const std::string old = before != nullptr ? before : "";
  ::setenv("PATH", ("/nonexistent:" + here_.string()).c_str(), 1);
  EXPECT_EQ(find_program("only_here").path, path);
  ::setenv("PATH", old.c_str(), 1);
}

}  // namespace
}  // namespace warpcheck
