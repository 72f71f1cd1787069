#include "vgpu/check/checkers.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "vgpu/check/barrier.hpp"
#include "vgpu/check/bounds.hpp"
#include "vgpu/check/checker.hpp"
#include "vgpu/check/deadlock.hpp"
#include "vgpu/check/init.hpp"
#include "vgpu/check/lifetime.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/check/texture_reads.hpp"
#include "vgpu/check/trap.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::vgpu {
namespace {

template <typename T>
std::unique_ptr<Checker> make(Reporter& reporter) {
  return std::make_unique<T>(reporter);
}

std::unique_ptr<Checker> make_race(Reporter& reporter) {
  return std::make_unique<RaceChecker>(reporter, race_row_functions(simd_level()));
}

struct Row {
  bool CheckerSet::*enabled;  // null: always on
  std::unique_ptr<Checker> (*make)(Reporter&);
};

// In the order in which they are asked about an event.
constexpr std::array kRegistry{
    Row{&CheckerSet::bounds, make<BoundsChecker>},
    Row{&CheckerSet::lifetime, make<LifetimeChecker>},
    Row{&CheckerSet::race, make<TextureReadChecker>},
    Row{&CheckerSet::race, make_race},
    Row{&CheckerSet::init, make<InitChecker>},
    Row{&CheckerSet::barrier, make<BarrierChecker>},
    Row{nullptr, make<DeadlockChecker>},
    Row{nullptr, make<TrapChecker>},
};

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
  Reporter reporter;
  std::array<std::unique_ptr<Checker>, kRegistry.size()> checkers;  // made when first enabled
  // Findings of the host's calls by all that they say but for the element.
  std::unordered_map<std::string, std::uint32_t> host_findings;
};

Checkers::Checkers(const CheckerSet& set, WarpModel model) : impl_(std::make_unique<Impl>()) {
  reset(set, model);
}

Checkers::~Checkers() = default;

void Checkers::reset(const CheckerSet& set, WarpModel model) {
  impl_->reporter.reset();
  impl_->host_findings.clear();
  observers_.assign(1, &impl_->reporter);
  for (std::size_t i = 0; i < kRegistry.size(); ++i) {
    const Row& row = kRegistry[i];
    if (row.enabled != nullptr && !(set.*row.enabled)) continue;
    std::unique_ptr<Checker>& checker = impl_->checkers[i];
    if (checker == nullptr) checker = row.make(impl_->reporter);
    checker->configure(set);
    checker->treat_volatile_as_weak(set.volatile_is_weak);
    checker->reset(model);
    observers_.push_back(checker.get());
  }
}

const std::vector<Finding>& Checkers::findings() const { return impl_->reporter.findings(); }

void Checkers::on_new_finding(std::function<void(std::size_t)> listener) {
  impl_->reporter.set_listener(std::move(listener));
}

void Checkers::set_causes(const Causes* causes) { impl_->reporter.set_causes(causes); }

void Checkers::add(Finding finding) {
  const auto next = static_cast<std::uint32_t>(impl_->host_findings.size());
  const auto known = impl_->host_findings.try_emplace(said_by(finding), next).first;
  const Reporter::Key key{impl_.get(), known->second, ptx::kNone, 0};
  impl_->reporter.report(key, [&] { return std::move(finding); });
}

void Checkers::add(const std::string& key, const std::function<Finding()>& make) {
  const auto next = static_cast<std::uint32_t>(impl_->host_findings.size());
  const auto known = impl_->host_findings.try_emplace("a call: " + key, next).first;
  impl_->reporter.report({impl_.get(), known->second, ptx::kNone, 0}, make);
}

}  // namespace warpcheck::vgpu
