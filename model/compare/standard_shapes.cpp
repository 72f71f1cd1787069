#include "model/compare/standard_shapes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "model/compare/kernel.hpp"
#include "model/parser.hpp"

namespace warpcheck::model {
namespace {

namespace fs = std::filesystem;

// Tests with states that weak memory leaves out, by the reason.
const std::set<std::string> kLoadBuffering{"LB+acq+rel+relaxed", "LB+acq+rel-apart",   "LB+atoms",
                                           "LB+fences-weak",     "LB+relaxed",         "LB+weak",
                                           "WWC+relaxed",        "Observed+read+write"};
const std::set<std::string> kAtomicsThatFindOlderWrites{"SB+atoms-relaxed"};
const std::set<std::string> kRacingAtomicsThatLoseUpdates{"Add+add-scopes", "Add+store-weak",
                                                          "Red+red-apart"};
const std::set<std::string> kWritesThatStayUnordered{"CoWR+weak"};

bool is_left_out(const std::string& name) {
  return kLoadBuffering.contains(name) || kAtomicsThatFindOlderWrites.contains(name) ||
         kRacingAtomicsThatLoseUpdates.contains(name) || kWritesThatStayUnordered.contains(name);
}

// Whether Kernel supports such an instruction.
bool is_plain(const Instruction& code) {
  using Kind = Instruction::Kind;
  constexpr auto kNone = Operand::Kind::none;
  const bool is_constant = code.a.kind != Operand::Kind::reg && code.b.kind == kNone;
  if (code.proxy != Proxy::generic || code.scope == Scope::cluster || !is_constant) return false;
  if (code.address.index.kind != kNone) return false;
  switch (code.kind) {
    case Kind::load:
    case Kind::store:
    case Kind::fence: return true;
    case Kind::atomic:
    case Kind::reduction:
      return code.operation == Operator::exch || code.operation == Operator::add ||
             code.operation == Operator::max;
    case Kind::barrier_sync: return code.arrivals.kind == kNone;
    default: return false;
  }
}

bool is_kernel(const Test& test) {
  if (test.addresses.size() != test.cells.size() || !Kernel::fits(test)) return false;
  return std::ranges::all_of(test.threads, [](const Thread& thread) {
    const bool begins_with_zeros =
        std::ranges::all_of(thread.initial, [](std::int64_t value) { return value == 0; });
    return thread.gpu == 0 && begins_with_zeros && std::ranges::all_of(thread.code, is_plain);
  });
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::vector<Shape> standard_shapes() {
  std::vector<Shape> shapes;
  for (const auto& entry : fs::recursive_directory_iterator(WARPCHECK_SOURCE_DIR "/model/tests")) {
    if (entry.path().extension() != ".litmus") continue;
    Test test = parse_test(text_of(entry.path()));
    if (!is_kernel(test)) continue;
    const bool is_left_out = model::is_left_out(test.name);
    shapes.push_back({std::move(test), is_left_out});
  }
  return shapes;
}

}  // namespace warpcheck::model
