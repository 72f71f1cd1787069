// What the workers of a campaign do, each in a process of its own, and the lines they emit.
//
//   search    libFuzzer on one pair for a while; what fails is emitted at once and as it is
//   shrink    the smallest case of one finding
//   confirm   that case again, in a fresh process, and under other schedules
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "campaign/store.hpp"
#include "campaign/worker_memory.hpp"
#include "harness/pair/any_pair.hpp"
#include "harness/process/worker_pool.hpp"
#include "harness/shrink/shrink.hpp"
#include "harness/trial/verdict.hpp"

namespace warpcheck::campaign {

// One of the findings that a case shows.
struct ShownFinding {
  std::string hash{};
  std::string kind{};
  std::string place{};
};
std::vector<ShownFinding> shown_findings(const Verdict& verdict);

// --- messages -----------------------------------------------------------------------------------

struct FoundMessage {
  std::string pair{};
  std::string case_text{};
  std::int64_t executions = 0;
  std::vector<ShownFinding> findings{};
  bool fails = true;  // false: it passes now, and these are the findings that it recorded
};
struct ShrunkMessage {
  bool kept = false;  // the case did show the finding again
  std::string case_text{};
  std::int64_t shrinks = 0;
  bool complete = false;
  std::vector<ShownFinding> findings{};
};
struct ConfirmedMessage {
  bool confirmed = false;
  std::int64_t shown = 0;
  std::int64_t schedules = 0;
};
struct SearchedMessage {  // the last of a search
  std::int64_t features = 0;
  std::int64_t entries = 0;
};
struct Message {
  std::optional<FoundMessage> found{};
  std::optional<ShrunkMessage> shrunk{};
  std::optional<ConfirmedMessage> confirmed{};
  std::optional<SearchedMessage> searched{};
  std::string remark{};    // of a damaged corpus entry, and the like
  std::string refusal{};   // the pair cannot be run
  std::string error{};     // the worker could not go on: a file
  std::string internal{};  // nor here, and nobody foresaw why: internal_error()
};
std::string text_of(const Message& message);

// A line that is no message.  what() quotes it.
class MessageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// Throws MessageError.
Message message_of(const std::string& line);

// --- work ---------------------------------------------------------------------------------------

struct SearchTask {
  const AnyPair* pair = nullptr;
  const Directory* directory = nullptr;
  std::uint64_t seconds = 1;
  std::uint64_t executions = 0;  // at most; 0: no limit
  std::uint32_t seed = 1;
  std::set<std::string> known{};  // places that are in the store
};

// Leaves the process.
[[noreturn]] void search(const SearchTask& task, WorkerMemory& memory, const Emit& emit);

// Throws CaseFileError when the text is no case.
void shrink_finding(const StoredFinding& finding, const ShrinkOptions& options,
                    WorkerMemory& memory, const Emit& emit);
void confirm_finding(const StoredFinding& finding, WorkerMemory& memory, const Emit& emit);

}  // namespace warpcheck::campaign
