// The tasks of a campaign's workers, each in a process of its own, and the messages that they emit
// (harness/process/messages.hpp).
//
//   search    libFuzzer on one pair for some time; failures are emitted at once, not shrunk
//   shrink    the smallest case of one finding
//   confirm   that case again, in a fresh process, and under other schedules
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "campaign/store/store.hpp"
#include "campaign/worker_memory.hpp"
#include "harness/case/verdict.hpp"
#include "harness/pair/any_pair.hpp"
#include "harness/process/worker_pool.hpp"
#include "harness/shrink/shrink.hpp"

namespace warpcheck::campaign {

std::vector<ShownFinding> shown_findings(const Verdict& verdict);

// Host code may wait, for threads or a clock: a search also ends after this multiple of its seconds
// by the wall clock, of which at least this fraction counts as used.
inline constexpr std::uint64_t kWaitingMax = 20;

struct SearchTask {
  const AnyPair* pair = nullptr;
  const Directory* directory = nullptr;
  std::uint64_t seconds = 1;     // of CPU time, after the corpus was run
  std::uint64_t executions = 0;  // at most; 0: no limit
  std::uint32_t seed = 1;
  std::set<std::string> known{};  // places that are in the store
};

// Ends the process.
[[noreturn]] void search(const SearchTask& task, WorkerMemory& memory, const Emit& emit);

// Throws CaseFileError if the text is no case.
void shrink_finding(const StoredFinding& finding, const ShrinkOptions& options,
                    WorkerMemory& memory, const Emit& emit);
void confirm_finding(const StoredFinding& finding, WorkerMemory& memory, const Emit& emit);

}  // namespace warpcheck::campaign
