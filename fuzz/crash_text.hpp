// A failure in the words that fuzzing services group crashes by.
//
// ClusterFuzz reads the output of a crash (src/clusterfuzz/stacktraces in its sources): the kind
// from the first line of a sanitizer or of a failed check, the address and access from the next,
// and from the stack under it the functions, the first three of which are what makes two crashes
// the same. So each finding is told as the sanitizer would that finds its like in host code, and
// its stack is the device's: kernel, file and line.  What it does not know by name is filed as a
// security bug, so kinds that no sanitizer has are failed checks.
//
//   data-race            ThreadSanitizer, with a stack for each side
//   out-of-bounds        AddressSanitizer: heap-, global- or stack-buffer-overflow
//   use-after-free       AddressSanitizer: heap-use-after-free
//   invalid-free         AddressSanitizer: attempting free on address which was not malloc()-ed
//   leak                 LeakSanitizer: detected memory leaks
//   uninitialized-read   MemorySanitizer: use-of-uninitialized-value
//   misaligned-access    UndefinedBehaviorSanitizer: load of or store to a misaligned address
//   mismatch, schedule-dependent, api-error, barrier-divergence, deadlock, trap   "Check failed",
//   as glog has it
#pragma once

#include <string>

#include "harness/trial/verdict.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck::fuzz {

std::string crash_text(const vgpu::Finding& finding);

// Of the first error of a failed verdict: findings of the device come before those of the harness.
std::string crash_text(const Verdict& verdict);

}  // namespace warpcheck::fuzz
