#include "vgpu/check/checkers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/block_share.hpp"
#include "vgpu/machine/undefined/unwritten_memory.hpp"

namespace warpcheck::vgpu {
namespace {

struct Row {
  int turn;
  bool CheckerSet::*enabled;  // null: always on
  std::unique_ptr<Checker> (*make)(Reporter&);
};

// Rows are in the order in which checkers receive an event (the `turn` of checkers.def).
constexpr auto kRegistry = [] {
  auto rows = std::to_array<Row>({
#define CHECKER(name, turn, help) {turn, &CheckerSet::name, make_##name##_checker},
#define OPTIONAL_CHECKER(name, turn, help) CHECKER(name, turn, help)
#define SILENT_CHECKER(name, turn, enabled) {turn, enabled, make_##name##_checker},
#include "vgpu/check/checkers.def"
#undef CHECKER
#undef OPTIONAL_CHECKER
#undef SILENT_CHECKER
  });
  std::ranges::sort(rows, {}, &Row::turn);
  return rows;
}();
static_assert(std::ranges::adjacent_find(kRegistry, {}, &Row::turn) == kRegistry.end());

// Returns the switch of the checker that reports findings of this kind; null: no switch turns them
// off.
bool CheckerSet::*checker_of(FindingKind kind) {
  switch (kind) {
#define FINDING_KIND(enumerator, name, checker) \
  case FindingKind::enumerator:                 \
    return checker;
#include "vgpu/check/finding_kinds.def"
#undef FINDING_KIND
  }
  return nullptr;
}

std::string said_by(const Finding& finding) {
  const std::string& what = finding.variable.empty() ? finding.object : finding.variable;
  std::string text =
      fmt::format("{}|{}|{}|{}|{}|{}", name_of(finding.kind), name_of(finding.severity),
                  finding.kernel, finding.space, what, finding.message);
  for (const AccessSide& side : finding.accesses) {
    text += fmt::format("|{}|{}|{}", side.role, side.file, side.line);
  }
  return text;
}

}  // namespace

class Checkers::Impl {
 public:
  CheckerSet set;
  UnwrittenMemory unwritten;
  Reporter reporter;
  std::array<std::unique_ptr<Checker>, kRegistry.size()> checkers;  // created when first enabled
  std::vector<Checker*> enabled;
  // Findings of host calls, keyed by everything that they say except the element.
  std::unordered_map<std::string, std::uint32_t> host_findings;

  // Returns null if values that nothing has written are not followed.
  UnwrittenMemory* followed() { return set.finds_unwritten_values() ? &unwritten : nullptr; }
};

std::string checkers_help() {
  std::vector<std::string> each;
  for (const CheckerRow& row : kCheckers)
    each.push_back(fmt::format("{} ({})", row.name, row.help));
  return fmt::format("{}", fmt::join(each, ", "));
}

Checkers::Checkers(const CheckerSet& set, WarpModel model) : impl_(std::make_unique<Impl>()) {
  reset(set, model);
}

Checkers::~Checkers() = default;

void Checkers::reset(const CheckerSet& set, WarpModel model) {
  impl_->reporter.reset();
  impl_->host_findings.clear();
  if (impl_->enabled.empty() || impl_->set != set) enable(set);
  impl_->unwritten.reset();
  for (Checker* const checker : impl_->enabled) checker->reset(model);
}

void Checkers::enable(const CheckerSet& set) {
  impl_->set = set;
  impl_->enabled.clear();
  impl_->reporter.set_unwritten(impl_->followed());
  for (std::size_t i = 0; i < kRegistry.size(); ++i) {
    const Row& row = kRegistry[i];
    if (row.enabled != nullptr && !(set.*row.enabled)) continue;
    std::unique_ptr<Checker>& checker = impl_->checkers[i];
    if (checker == nullptr) checker = row.make(impl_->reporter);
    checker->configure(set);
    impl_->enabled.push_back(checker.get());
  }
  observers_.assign(1, &impl_->reporter);
  observers_.insert(observers_.end(), impl_->enabled.begin(), impl_->enabled.end());
  // After the checkers, which see memory as it was before an event.
  if (UnwrittenMemory* const unwritten = impl_->followed()) observers_.push_back(unwritten);
}

void Checkers::on_operand(OperandAccess& access) {
  UnwrittenMemory* const unwritten = impl_->followed();
  if (unwritten != nullptr && !access.write) {
    access.undefined = unwritten->bits_of(*access.allocation, access.offset, access.bytes);
  }
  for (Checker* const checker : impl_->enabled) checker->on_operand(access);
  if (unwritten == nullptr || !access.write) return;
  std::uint32_t origin = 0;
  if (!access.undefined.empty()) {
    const LibraryOperand& from = *access.undefined_from;
    origin = unwritten->origins().of_operand(from.call_site, from.number);
  }
  unwritten->write_range(*access.allocation, access.offset, access.bytes, access.undefined, origin);
}

void Checkers::on_late_operand(const OperandAccess& access) {
  for (Checker* const checker : impl_->enabled) checker->on_late_operand(access);
}

void Checkers::on_unknown_writes() {
  if (impl_->followed() != nullptr) impl_->unwritten.on_unknown_writes();
}

void Checkers::begins_beside(std::span<const std::uint32_t> suspended) {
  for (Checker* const checker : impl_->enabled) checker->begins_beside(suspended);
}

void Checkers::resumes(const ResumedLaunch& resumed) {
  for (Checker* const checker : impl_->enabled) checker->resumes(resumed);
}

bool Checkers::may_be_split() const {
  return std::ranges::all_of(impl_->enabled, &Checker::may_be_split);
}

void Checkers::begin_parts() {
  if (impl_->followed() != nullptr) impl_->unwritten.begin_parts();
}

void Checkers::end_parts(PartsEnd end) {
  if (impl_->followed() != nullptr) impl_->unwritten.end_parts(end);
}

void Checkers::join(const Checkers& whole, SharedGrid& grid) {
  impl_->reporter.set_listener([&grid](std::size_t) { grid.give_up(); });
  if (impl_->followed() != nullptr) impl_->unwritten.join(whole.impl_->unwritten, grid);
}

MemoryShadow* Checkers::states_of(const Allocation& allocation) const {
  return impl_->followed() != nullptr ? impl_->unwritten.states_of(allocation) : nullptr;
}

MemoryShadow* Checkers::make_states_of(const Allocation& allocation) {
  return impl_->followed() != nullptr ? impl_->unwritten.make_states_of(allocation) : nullptr;
}

const std::vector<Finding>& Checkers::findings() const { return impl_->reporter.findings(); }

void Checkers::on_new_finding(std::function<void(std::size_t)> listener) {
  impl_->reporter.set_listener(std::move(listener));
}

void Checkers::set_causes(const Causes* causes) { impl_->reporter.set_causes(causes); }

bool Checkers::add(Finding finding) {
  const auto checker = checker_of(finding.kind);
  if (checker != nullptr && !(impl_->set.*checker)) return false;
  const auto next = static_cast<std::uint32_t>(impl_->host_findings.size());
  const auto known = impl_->host_findings.try_emplace(said_by(finding), next).first;
  const Reporter::Key key{impl_.get(), known->second, ptx::kNone, 0};
  impl_->reporter.report(key, [&] { return std::move(finding); });
  return true;
}

void Checkers::add(const std::string& key, const std::function<Finding()>& make) {
  const auto next = static_cast<std::uint32_t>(impl_->host_findings.size());
  const auto known = impl_->host_findings.try_emplace("a call: " + key, next).first;
  impl_->reporter.report({impl_.get(), known->second, ptx::kNone, 0}, make);
}

}  // namespace warpcheck::vgpu
