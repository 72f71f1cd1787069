// Texts are those of compute-sanitizer 2025.3 (CUDA 13.0) on an H200, on exported specimens; the
// host's frames are left out.
#include "harness/gpu/sanitizer.hpp"

#include <gtest/gtest.h>

namespace warpcheck {
namespace {

using vgpu::Finding;
using vgpu::FindingKind;

TEST(Sanitizer, RacesHaveTwoSides) {
  const std::string_view log =
      R"(========= COMPUTE-SANITIZER
========= Error: Race reported between Read access at scan_hillis_steele_published_kernel(const int *, int *, int)+0x180 in scan_hillis_steele.cu:14
=========     and Write access at scan_hillis_steele_published_kernel(const int *, int *, int)+0x1a0 in scan_hillis_steele.cu:14 [412 hazards]
========= 
scan_hillis_steele_published on NVIDIA H200
1 runs: 0 wrong, 1 different result
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
)";
  const std::vector<Finding> findings = parse_sanitizer_log(log);
  ASSERT_EQ(findings.size(), 1u);
  const Finding& finding = findings[0];
  EXPECT_EQ(finding.kind, FindingKind::data_race);
  EXPECT_EQ(finding.space, "shared");
  EXPECT_EQ(finding.kernel, "scan_hillis_steele_published_kernel");
  EXPECT_EQ(finding.count, 412u);
  EXPECT_EQ(finding.message, "racecheck: error");
  ASSERT_EQ(finding.accesses.size(), 2u);
  EXPECT_EQ(finding.accesses[0].role, "read");
  EXPECT_EQ(finding.accesses[1].role, "write");
  EXPECT_EQ(finding.accesses[1].file, "scan_hillis_steele.cu");
  EXPECT_EQ(finding.accesses[1].line, 14u);
  EXPECT_EQ(sanitizer_errors(log), 1);
}

TEST(Sanitizer, WarningsOfRacecheckAreFindingsToo) {
  const std::string_view log =
      R"(========= COMPUTE-SANITIZER
========= Warning: Race reported between Write access at scan_two_level_published_add_kernel(int *, const int *, int)+0x520 in scan_two_level.cu:21
=========     and Read access at scan_two_level_published_add_kernel(int *, const int *, int)+0x6b0 in scan_two_level.cu:22 [4 hazards]
========= 
========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)
)";
  const std::vector<Finding> findings = parse_sanitizer_log(log);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message, "racecheck: warning");
  EXPECT_EQ(findings[0].severity, vgpu::Severity::error);
  EXPECT_EQ(findings[0].accesses[0].line, 21u);
  EXPECT_EQ(findings[0].accesses[1].line, 22u);
}

TEST(Sanitizer, AccessesAreCountedByPlaceAndFailedCallsFollowFromThem) {
  const std::string_view log =
      R"(========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at <unnamed>::kernel_new_published_kernel(const unsigned int *, unsigned int *, int)+0x320 in kernel_new.cu:17
=========     by thread (27,0,0) in block (1,0,0)
=========     Access to 0x6c is out of bounds
=========     and is 8,680,112,020 bytes before the nearest allocation at 0x205600000 of size 8,388,864 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main [0x94bc] in kernel_new_published_dede.bin
========= 
========= Invalid __global__ write of size 4 bytes
=========     at <unnamed>::kernel_new_published_kernel(const unsigned int *, unsigned int *, int)+0x320 in kernel_new.cu:17
=========     by thread (28,0,0) in block (1,0,0)
=========     Access to 0x70 is out of bounds
=========     and is 8,680,112,016 bytes before the nearest allocation at 0x205600000 of size 8,388,864 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
========= 
========= Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call to cudaMemcpy.
=========     Saved host backtrace up to driver entry point at error
========= 
========= Target application returned an error
========= ERROR SUMMARY: 3 errors
)";
  const std::vector<Finding> findings = parse_sanitizer_log(log);
  ASSERT_EQ(findings.size(), 1u);
  const Finding& finding = findings[0];
  EXPECT_EQ(finding.kind, FindingKind::out_of_bounds);
  EXPECT_EQ(finding.space, "global");
  EXPECT_EQ(finding.object, "4 bytes");
  EXPECT_EQ(finding.kernel, "(anonymous namespace)::kernel_new_published_kernel");
  EXPECT_EQ(finding.count, 2u);
  EXPECT_EQ(finding.message, "(1) is outside every allocation");
  ASSERT_EQ(finding.accesses.size(), 1u);
  EXPECT_EQ(finding.accesses[0].role, "write");
  EXPECT_EQ(finding.accesses[0].thread, (vgpu::Dim3{27, 0, 0}));
  EXPECT_EQ(finding.accesses[0].block, (vgpu::Dim3{1, 0, 0}));
  EXPECT_EQ(finding.accesses[0].line, 17u);
  EXPECT_EQ(sanitizer_errors(log), 3);
}

TEST(Sanitizer, UninitialisedReads) {
  const std::string_view log =
      R"(========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at <unnamed>::kernel_new_published_kernel(const unsigned int *, unsigned int *, int)+0x1390 in kernel_new.cu:22
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x206dff9c4
=========     Saved host backtrace up to driver entry point at kernel launch time
========= 
========= ERROR SUMMARY: 1 error
)";
  const std::vector<Finding> findings = parse_sanitizer_log(log);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, FindingKind::uninitialized_read);
  EXPECT_EQ(findings[0].space, "global");
  EXPECT_EQ(findings[0].accesses[0].line, 22u);
}

TEST(Sanitizer, AFailedCallAloneIsAFinding) {
  const std::string_view log =
      R"(========= COMPUTE-SANITIZER
========= Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemcpy.
=========     Saved host backtrace up to driver entry point at error
========= 
========= ERROR SUMMARY: 1 error
)";
  const std::vector<Finding> findings = parse_sanitizer_log(log);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, FindingKind::trap);
  EXPECT_EQ(findings[0].message, "cudaMemcpy: cudaErrorInvalidValue (invalid argument)");
}

TEST(Sanitizer, ACleanLogHasNothingAndABrokenOneNoSummary) {
  const std::string_view clean =
      "========= COMPUTE-SANITIZER\n3 runs: 0 wrong\n========= ERROR SUMMARY: 0 errors\n";
  EXPECT_TRUE(parse_sanitizer_log(clean).empty());
  EXPECT_EQ(sanitizer_errors(clean), 0);
  EXPECT_EQ(
      sanitizer_errors("========= COMPUTE-SANITIZER\n========= Error: Device not supported\n"), -1);
  EXPECT_EQ(sanitizer_errors(""), -1);
}

}  // namespace
}  // namespace warpcheck
