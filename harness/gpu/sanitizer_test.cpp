// Texts are those of compute-sanitizer 2025.3 (CUDA 13.0) on an H200, for exported specimens,
// without the host's frames.
#include "harness/gpu/sanitizer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {
namespace {

// All fields of a finding from a log.
std::string text_of(const vgpu::Finding& finding) {
  std::string text = fmt::format("{} {}: kernel '{}', space '{}', object '{}', {} times, '{}'",
                                 name_of(finding.severity), name_of(finding.kind), finding.kernel,
                                 finding.space, finding.object, finding.count, finding.message);
  for (const vgpu::AccessSide& side : finding.accesses) {
    text += fmt::format("; {} by ({},{},{}) of ({},{},{}) at {}:{}", side.role, side.thread.x,
                        side.thread.y, side.thread.z, side.block.x, side.block.y, side.block.z,
                        side.file, side.line);
  }
  return text;
}

struct Log {
  const char* what;
  std::string_view log;
  long errors;  // -1: it did not run to its end
  std::vector<std::string> findings;
};

const Log kLogs[] = {
    {"a race has two sides",
     R"(========= COMPUTE-SANITIZER
========= Error: Race reported between Read access at scan_hillis_steele_published_kernel(const int *, int *, int)+0x180 in scan_hillis_steele.cu:14
=========     and Write access at scan_hillis_steele_published_kernel(const int *, int *, int)+0x1a0 in scan_hillis_steele.cu:14 [412 hazards]
========= 
scan_hillis_steele_published on NVIDIA H200
1 runs: 0 wrong, 1 different result
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
)",
     1,
     {"error data-race: kernel 'scan_hillis_steele_published_kernel', space 'shared', object '', "
      "412 times, "
      "'racecheck: error'; "
      "read by (0,0,0) of (0,0,0) at scan_hillis_steele.cu:14; "
      "write by (0,0,0) of (0,0,0) at scan_hillis_steele.cu:14"}},
    {"warnings of racecheck are findings too",
     R"(========= COMPUTE-SANITIZER
========= Warning: Race reported between Write access at scan_two_level_published_add_kernel(int *, const int *, int)+0x520 in scan_two_level.cu:21
=========     and Read access at scan_two_level_published_add_kernel(int *, const int *, int)+0x6b0 in scan_two_level.cu:22 [4 hazards]
========= 
========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)
)",
     1,
     {"error data-race: kernel 'scan_two_level_published_add_kernel', space 'shared', object '', "
      "4 times, "
      "'racecheck: warning'; "
      "write by (0,0,0) of (0,0,0) at scan_two_level.cu:21; "
      "read by (0,0,0) of (0,0,0) at scan_two_level.cu:22"}},
    {"accesses are counted by place, and failed calls follow from them",
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
)",
     3,
     {"error out-of-bounds: kernel '(anonymous namespace)::kernel_new_published_kernel', space "
      "'global', object '4 bytes', 2 times, "
      "'(1) is outside every allocation'; "
      "write by (27,0,0) of (1,0,0) at kernel_new.cu:17"}},
    {"an uninitialised read",
     R"(========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at <unnamed>::kernel_new_published_kernel(const unsigned int *, unsigned int *, int)+0x1390 in kernel_new.cu:22
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x206dff9c4
=========     Saved host backtrace up to driver entry point at kernel launch time
========= 
========= ERROR SUMMARY: 1 error
)",
     1,
     {"error uninitialized-read: kernel '(anonymous namespace)::kernel_new_published_kernel', "
      "space 'global', object '4 bytes', 1 times, "
      "''; "
      "read by (0,0,0) of (0,0,0) at kernel_new.cu:22"}},
    {"a failed call alone is a finding",
     R"(========= COMPUTE-SANITIZER
========= Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemcpy.
=========     Saved host backtrace up to driver entry point at error
========= 
========= ERROR SUMMARY: 1 error
)",
     1,
     {"error trap: kernel '', space '', object '', "
      "1 times, "
      "'cudaMemcpy: cudaErrorInvalidValue (invalid argument)'"}},
    {"a clean log",
     "========= COMPUTE-SANITIZER\n3 runs: 0 wrong\n========= ERROR SUMMARY: 0 errors\n",
     0,
     {}},
    {"a broken one",
     "========= COMPUTE-SANITIZER\n========= Error: Device not supported\n",
     -1,
     {}},
    {"none", "", -1, {}},
};

TEST(Sanitizer, ALogIsReadAsItsFindings) {
  for (const Log& row : kLogs) {
    std::vector<std::string> findings;
    for (const vgpu::Finding& finding : parse_sanitizer_log(row.log)) {
      findings.push_back(text_of(finding));
    }
    EXPECT_EQ(findings, row.findings) << row.what;
    EXPECT_EQ(sanitizer_errors(row.log), row.errors) << row.what;
  }
}

}  // namespace
}  // namespace warpcheck
