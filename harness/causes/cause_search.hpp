// The search for causes, whatever the findings are of: a case, a program.  Derived classes run it
// with a change (find_causes.hpp says what counts).
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/causes/changes.hpp"
#include "harness/report/causes.hpp"

namespace warpcheck {

// Warp instructions.  What a search for causes may always cost, besides as much as what it is of.
inline constexpr std::uint64_t kStepsAlways = 2'000'000;
// One step for each so many bytes of PTX that is parsed and decoded with a change.
inline constexpr std::uint64_t kBytesOfStep = 4;
inline constexpr std::uint32_t kChangesMax = 96;

class CauseSearch {
 public:
  using Findings = std::vector<vgpu::Finding>;

  CauseSearch(const CauseSearch&) = delete;
  CauseSearch& operator=(const CauseSearch&) = delete;
  virtual ~CauseSearch() = default;

  // The changes, preferred ones first.
  Causes run(const std::vector<Change>& changes);

 protected:
  // findings: outlive this
  CauseSearch(const Findings& findings, std::uint64_t budget);

  // The findings with the change; nothing: it could not be run so.
  virtual std::optional<Findings> findings_with(const Change& change) = 0;
  // Whether the change helps under other schedules, and with other inputs.
  //   removed: keys of the findings that vanish with it
  virtual bool holds(const Change& change, const std::set<std::string>& removed) = 0;

  void pay(std::uint64_t steps) { budget_ -= std::min(budget_, steps); }
  [[nodiscard]] std::uint64_t budget() const { return budget_; }
  // Whether there are errors that are not among those to explain.
  [[nodiscard]] bool brings_others(const Findings& with_change) const;
  [[nodiscard]] static std::string key_of(const vgpu::Finding& finding);
  [[nodiscard]] static std::set<std::string> keys_of(const Findings& findings);
  [[nodiscard]] static bool shows(const Findings& findings, const std::set<std::string>& keys);
  // What the harness says of results is a consequence where the device shows what is wrong.
  [[nodiscard]] static bool is_of_results(const vgpu::Finding& finding);

 private:
  struct Helpful {
    const Change* change = nullptr;
    std::vector<std::size_t> findings;  // ascending
  };

  // Changes of one Change::family.
  struct Family {
    std::vector<const Change*> members;
    std::size_t reached = 0;
    bool is_tried_whole = false;
    // Findings that vanish with all of them; nothing: not known.
    std::optional<std::vector<std::size_t>> helped;
  };

  [[nodiscard]] std::vector<std::size_t> vanished_with(const Change& change);
  [[nodiscard]] std::optional<std::vector<std::size_t>> vanished_if_run(const Change& change);
  [[nodiscard]] static Change joined(const std::vector<const Change*>& members);
  [[nodiscard]] std::optional<std::vector<std::size_t>> vanished_with_all(Family& family);
  [[nodiscard]] bool may_help(const Change& change);
  [[nodiscard]] bool has_helped_with(const std::vector<std::size_t>& findings) const;
  [[nodiscard]] std::vector<const Change*> fewest(std::vector<const Change*> members,
                                                  const std::vector<std::size_t>& wanted);
  void join_families();
  [[nodiscard]] bool is_explained(std::size_t finding) const;
  [[nodiscard]] bool leaves_errors() const;
  [[nodiscard]] bool has_error(const std::vector<std::size_t>& findings) const;
  [[nodiscard]] bool confirm(const Helpful& helpful);
  void choose_by_number();
  void choose(const Helpful& helpful);

  const Findings& findings_;
  const std::set<std::string> keys_;
  std::uint64_t budget_ = 0;
  std::vector<Helpful> helpful_;
  std::map<std::size_t, Family> families_;
  std::list<Change> joined_;  // of several members of a family
  Causes causes_;
};

}  // namespace warpcheck
