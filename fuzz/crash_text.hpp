// A failure in the text format by which fuzzing services group crashes.
//
// ClusterFuzz parses the output of a crash (src/clusterfuzz/stacktraces in its sources): the kind
// from the first line of a sanitizer or of a failed check, the address and access from the next,
// and the functions from the stack under it.  Two crashes are the same if the first three functions
// are. So each finding is printed in the format of the sanitizer that finds similar defects in host
// code, with the device's stack: kernel, file and line.  Kinds that ClusterFuzz does not know count
// as security bugs, so kinds that no sanitizer has are failed checks.
//
//   data-race            ThreadSanitizer, with a stack for each side
//   out-of-bounds        AddressSanitizer: heap-, global- or stack-buffer-overflow
//   use-after-free       AddressSanitizer: heap-use-after-free
//   invalid-free         AddressSanitizer: attempting free on address which was not malloc()-ed
//   leak                 LeakSanitizer: detected memory leaks
//   uninitialized-read   MemorySanitizer: use-of-uninitialized-value
//   misaligned-access    UndefinedBehaviorSanitizer: load of or store to a misaligned address
//   mismatch, schedule-dependent, api-error, barrier-divergence, deadlock, trap   "Check failed",
//                        in glog's format
#pragma once

#include <string>

#include "harness/case/verdict.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck::fuzz {

std::string crash_text(const vgpu::Finding& finding);

// For the first error of a failed verdict: findings of the device come before those of the harness.
std::string crash_text(const Verdict& verdict);

}  // namespace warpcheck::fuzz
