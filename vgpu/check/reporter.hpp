// The findings of one trial, in order of first occurrence.
//
// Of the threads that race at the same lines, those are shown that are furthest apart: what orders
// blocks orders lanes, too, and what orders lanes alone would not help.
//
// Checkers share one Reporter.  It knows the running kernel's grid, so that linear numbers become
// (x, y, z), and folds repetitions: a racy line executed a thousand times is one finding with a
// count of a thousand, and so is one whose loop the compiler has unrolled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/program/library_headers.hpp"

namespace warpcheck::vgpu {

// A thread of the running launch, by linear numbers.
struct ThreadId {
  std::uint32_t block = 0;   // in the grid
  std::uint32_t thread = 0;  // in the block
  friend bool operator==(const ThreadId&, const ThreadId&) = default;
};

inline ThreadId thread_of(const WarpPlace& place, unsigned lane) {
  return {place.block, place.warp * kWarpLanes + lane};
}

// "shared"; "" for generic.
std::string_view space_name(ptx::Space space);
// "read", "write", "atomic"
std::string_view role_name(AccessKind kind);

// One side of a finding: what the host did; it has no place in device code.
AccessSide host_side(std::string_view role);
// The same of a load or store: "host read", "host write" at its line.
AccessSide host_side(bool write, const HostPlace& place);
// What a message adds where that line is not known: "; (2) is in main+0x2f".
std::string text_of_code(const HostPlace& place, unsigned side);

// One side of a finding: what a thread did there.
AccessSide side_at(std::string_view role, const CodePlace& place);

// "s[31], 4 bytes": what a lane accesses.
std::string describe_element(const Access& access, unsigned lane);

// "s", "allocation 7 of 128 bytes": which variable, or else which allocation of the trial.
std::string variable_of(const Allocation& allocation, std::uint32_t offset);

// What went wrong before and led to a finding, as sentences; "" where nothing is known.  Asked when
// a finding is made.
class Causes {
 public:
  virtual ~Causes() = default;
  [[nodiscard]] virtual std::string of_pointer_to_nothing() const = 0;
  [[nodiscard]] virtual std::string of_use_after_free(const Allocation&) const = 0;
  [[nodiscard]] virtual std::string of_unwritten(const Allocation&) const = 0;
  // Where in the program the host asks for what it does now; as it is, where nobody knows.
  [[nodiscard]] virtual AccessSide at_call(AccessSide side) const { return side; }
};

class Reporter final : public Observer {
 public:
  [[nodiscard]] bool watches_accesses() const override { return false; }
  [[nodiscard]] bool watches_blocks() const override { return false; }
  // What makes two findings the same: the code that took part, and `tag` (the checker's choice).
  struct Key {
    const void* subject = nullptr;  // the Program, or an Allocation
    std::uint32_t pc1 = ptx::kNone, pc2 = ptx::kNone;
    std::uint32_t tag = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };

  void reset();
  void on_sync(const Sync& sync) override;

  // Counts `times` more of `key`; the first time, make() gives the finding.
  template <typename Make>
  void report(const Key& key, Make&& make, std::uint64_t times = 1) {
    std::uint32_t& index = finding_of(key);
    if (index == ptx::kNone) index = add(make());
    findings_[index].count += times;
  }
  // The same between two threads that are so far apart; make() is called again where that is
  // further than before.
  template <typename Make>
  void report(const Key& key, Relation relation, Make&& make) {
    std::uint32_t& index = finding_of(key);
    if (index == ptx::kNone) {
      Finding finding = make();
      finding.relation = relation;
      index = add(std::move(finding));
    } else if (is_wider(index, relation)) {
      Finding finding = make();
      weigh(finding);
      widen(index, std::move(finding), relation);
    }
    ++findings_[index].count;
  }

  [[nodiscard]] AccessSide side(std::string_view role, const Program& program, std::uint32_t pc,
                                ThreadId who) const;

  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }

  // Called with a finding's index when it is first seen, its count not yet known.
  using Listener = std::function<void(std::size_t)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }

  // Not owned; null: nobody knows any.
  void set_causes(const Causes* causes) { causes_ = causes; }
  [[nodiscard]] const Causes* causes() const { return causes_; }
  // Of what a call of the host does now.
  [[nodiscard]] AccessSide side_of_call(std::string_view role) const {
    return causes_ == nullptr ? host_side(role) : causes_->at_call(host_side(role));
  }

 private:
  struct Entry {
    Key key;
    std::uint32_t finding = ptx::kNone;  // kNone: free
  };
  // kNone: there is none yet, and the caller says which it is.
  std::uint32_t& finding_of(const Key& key);
  // The finding's index, or that of one which says the same about the same source lines.
  std::uint32_t add(Finding&& finding);
  [[nodiscard]] bool is_wider(std::uint32_t index, Relation relation);
  static void weigh(Finding& finding);
  void widen(std::uint32_t index, Finding&& finding, Relation relation);
  void grow();

  Dim3 grid_, block_;
  std::vector<Finding> findings_;
  Listener listener_;
  const Causes* causes_ = nullptr;
  std::vector<Entry> table_;  // open addressing; a power of two, at most half full
  std::size_t entries_ = 0;
};

}  // namespace warpcheck::vgpu
