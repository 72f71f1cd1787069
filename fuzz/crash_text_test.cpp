// The text of each kind, to the byte: services group crashes by it, so a change here splits all of
// their groups.
#include "fuzz/crash_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace warpcheck::fuzz {
namespace {

using vgpu::Finding;
using vgpu::FindingKind;

#define ROOT WARPCHECK_SOURCE_DIR "/"

Finding finding_of(FindingKind kind, std::string space, std::string object, const char* role) {
  Finding finding;
  finding.kind = kind;
  finding.space = std::move(space);
  finding.kernel = "scan<int, 4>";
  finding.object = std::move(object);
  finding.accesses = {{.role = role, .file = "kernels/scan.cu", .line = 14, .ptx = "ld.global"}};
  finding.message = "says more";
  return finding;
}

TEST(CrashText, DataRace) {
  Finding race = finding_of(FindingKind::data_race, "shared", "share[31], 4 bytes", "write");
  race.accesses.push_back(
      {.role = "read", .file = "kernels/scan.cu", .line = 20, .ptx = "ld.shared"});
  EXPECT_EQ(crash_text(race),
            "WARNING: ThreadSanitizer: data race (pid=1)\n"
            "  Write of size 4 at 0x000000000000 by thread T1:\n"
            "    #0 0x000000000001 in scan<int, 4> " ROOT
            "kernels/scan.cu:14:1\n"
            "\n"
            "  Previous read of size 4 at 0x000000000000 by thread T2:\n"
            "    #0 0x000000000001 in scan<int, 4> " ROOT "kernels/scan.cu:20:1\n");
}

TEST(CrashText, OutOfBoundsByItsSpace) {
  const auto text = [](const char* space) {
    return crash_text(
        finding_of(FindingKind::out_of_bounds, space, "8 bytes at address 0x7fc0", "read"));
  };
  EXPECT_EQ(text("global"),
            "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x7fc0\n"
            "READ of size 8 at 0x7fc0 thread T0\n"
            "    #0 0x000000000001 in scan<int, 4> " ROOT "kernels/scan.cu:14:1\n");
  EXPECT_NE(text("shared").find(": global-buffer-overflow on address 0x7fc0\n"), std::string::npos);
  EXPECT_NE(text("local").find(": stack-buffer-overflow on address 0x7fc0\n"), std::string::npos);
}

TEST(CrashText, UseAfterFree) {
  EXPECT_EQ(
      crash_text(finding_of(FindingKind::use_after_free, "global", "out[3], 4 bytes", "write")),
      "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x000000000000\n"
      "WRITE of size 4 at 0x000000000000 thread T0\n"
      "    #0 0x000000000001 in scan<int, 4> " ROOT "kernels/scan.cu:14:1\n");
}

TEST(CrashText, InvalidFree) {
  EXPECT_EQ(crash_text(finding_of(FindingKind::invalid_free, "", "address 0x10", "free")),
            "==1==ERROR: AddressSanitizer: attempting free on address which was not malloc()-ed: "
            "0x10\n"
            "    #0 0x000000000001 in scan<int, 4> " ROOT "kernels/scan.cu:14:1\n");
}

TEST(CrashText, Leak) {
  EXPECT_EQ(crash_text(finding_of(FindingKind::leak, "global", "16 bytes", "allocation")),
            "==1==ERROR: LeakSanitizer: detected memory leaks\n"
            "\n"
            "Direct leak of 16 byte(s) in 1 object(s) allocated from:\n"
            "    #0 0x000000000001 in scan<int, 4> " ROOT "kernels/scan.cu:14:1\n");
}

TEST(CrashText, UninitializedRead) {
  EXPECT_EQ(crash_text(finding_of(FindingKind::uninitialized_read, "global", "", "branch")),
            "==1==WARNING: MemorySanitizer: use-of-uninitialized-value\n"
            "    #0 0x000000000001 in scan<int, 4> " ROOT "kernels/scan.cu:14:1\n");
}

TEST(CrashText, MisalignedAccess) {
  EXPECT_EQ(crash_text(finding_of(FindingKind::misaligned_access, "global",
                                  "8 bytes at address 0x7fc4", "write")),
            ROOT
            "kernels/scan.cu:14:1: runtime error: store to misaligned address 0x7fc4 for type of 8 "
            "bytes\n"
            "    #0 0x000000000001 in scan<int, 4> " ROOT "kernels/scan.cu:14:1\n");
}

TEST(CrashText, WhatNoSanitizerHasIsAFailedCheck) {
  for (const auto& [kind, name] :
       {std::pair(FindingKind::barrier_divergence, "barrier-divergence"),
        std::pair(FindingKind::deadlock, "deadlock"), std::pair(FindingKind::trap, "trap"),
        std::pair(FindingKind::schedule_dependent, "schedule-dependent"),
        std::pair(FindingKind::mismatch, "mismatch"),
        std::pair(FindingKind::api_error, "api-error")}) {
    EXPECT_EQ(
        crash_text(finding_of(kind, "", "", "wait")),
        "F0101 12:00:00.000000 1 " ROOT "kernels/scan.cu:14] Check failed: " + std::string(name) +
            " in scan<int, 4>\n"
            "    #0 0x000000000001 in scan<int, 4> " ROOT "kernels/scan.cu:14:1\n");
  }
}

TEST(CrashText, AMismatchHasNoPlaceButThePair) {
  Finding mismatch;
  mismatch.kind = FindingKind::mismatch;
  mismatch.kernel = "scan_tree";
  mismatch.message = "out[3] = 2, reference 1";
  EXPECT_EQ(crash_text(mismatch),
            "F0101 12:00:00.000000 1 unknown.cu:1] Check failed: mismatch in scan_tree\n"
            "    #0 0x000000000001 in scan_tree unknown.cu:1\n");
}

TEST(CrashText, OfAVerdictTheFirstErrorIsTold) {
  Verdict verdict;
  verdict.findings = {finding_of(FindingKind::data_race, "", "", "write"),
                      finding_of(FindingKind::uninitialized_read, "", "", "branch")};
  verdict.findings[0].severity = vgpu::Severity::note;
  EXPECT_EQ(crash_text(verdict), crash_text(verdict.findings[1]));
}

}  // namespace
}  // namespace warpcheck::fuzz
