// The reporter collects the findings of one trial, in order of first occurrence.
//
// All checkers share one Reporter.  It knows the running kernel's grid, so it converts linear
// thread numbers to (x, y, z).  It folds repetitions: a racy line that is executed a thousand times
// is one finding with a count of a thousand, and so is a racy line whose loop the compiler has
// unrolled.
//
// Among the threads that race at the same lines, the reporter shows the two that are furthest apart
// in the thread hierarchy: synchronization between blocks also orders lanes, but synchronization
// between lanes does not order blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/program/library_headers.hpp"

namespace warpcheck::vgpu {

class UnwrittenMemory;

// A thread of the running launch, by linear indices.
struct ThreadId {
  std::uint32_t block = 0;   // in the grid
  std::uint32_t thread = 0;  // in the block
  friend bool operator==(const ThreadId&, const ThreadId&) = default;
};

inline ThreadId thread_of(const WarpPlace& place, unsigned lane) {
  return {place.block, place.warp * kWarpLanes + lane};
}

// Returns "shared" etc.; "" for generic.
std::string_view space_name(ptx::Space space);
// Returns "read", "write" or "atomic".
std::string_view role_name(AccessKind kind);

// Makes a side for an action of the host, which has no place in device code.
AccessSide host_side(std::string_view role);
// Makes a side for a load or store by host code: "host read" or "host write" at its line.
AccessSide host_side(bool write, const HostPlace& place);
// Returns the text that a message adds where the host's line is not known: "; (2) is in main+0x2f".
std::string text_of_code(const HostPlace& place, unsigned side);
// Returns what is missing between an access of the host and another operation.
//   other: the other operation
//   side: the host's, 1 or 2
std::string lack_of_host(const HostPlace& place, std::string_view other, unsigned side);
// Gives a side its place; where the line is not known, the message names the code, and the call if
// one is given.
void name_place(Finding& finding, std::size_t side, const HostPlace& place,
                std::string_view call = {});

// Adds the call of the host that freed the memory as another side, if it is known.
//   verb: what it did to it
void add_free_by_host(Finding& finding, const HostPlace& freed_at, std::string_view verb = "freed");

// Makes a side for an action of a device thread.
AccessSide side_at(std::string_view role, const CodePlace& place);

// Returns "s[31], 4 bytes": what a lane accesses.
std::string describe_element(const Access& access, unsigned lane);

// Returns the variable at `offset` ("s"), or the allocation if it has no variable there
// ("allocation 7 of 128 bytes").
std::string variable_of(const Allocation& allocation, std::uint32_t offset);

// Explains findings by earlier errors of the host program, e.g. a failed allocation.  Each function
// returns sentences, or "" if no cause is known.  The reporter calls it only when it makes a
// finding.
class Causes {
 public:
  virtual ~Causes() = default;
  [[nodiscard]] virtual std::string of_pointer_to_nothing() const = 0;
  [[nodiscard]] virtual std::string of_use_after_free(const Allocation&) const = 0;
  // Of bytes that nothing has written, from this one on.
  [[nodiscard]] virtual std::string of_unwritten(const Allocation&, std::uint32_t offset) const = 0;
  // Return the place of the host call that allocated or freed the memory; empty: not known.
  [[nodiscard]] virtual HostPlace place_of_allocation(const Allocation&) const { return {}; }
  [[nodiscard]] virtual HostPlace place_of_free(const Allocation&) const { return {}; }
  // Returns the place of the host call that is running now; empty: not known.
  [[nodiscard]] virtual HostPlace place_of_call() const { return {}; }
  // Returns a number that calls at different places do not share.
  [[nodiscard]] virtual std::uint32_t number_of_call() const { return 0; }
};

class Reporter final : public Observer {
 public:
  [[nodiscard]] Watched watches() const override {
    return {.accesses = false, .blocks = false, .memory = false};
  }
  // Identifies a finding: the code that took part and a tag of the checker's choice.  Reports with
  // equal keys are one finding.
  struct Key {
    const void* subject = nullptr;  // the Program, or an Allocation
    std::uint32_t pc1 = ptx::kNone, pc2 = ptx::kNone;
    std::uint32_t tag = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };

  void reset();
  void on_sync(const Sync& sync) override;

  // Adds `times` to the count of the finding with `key`.  The first report with `key` adds the
  // result of make() as a finding.
  template <typename Make>
  void report(const Key& key, Make&& make, std::uint64_t times = 1) {
    if (count_again(key, times)) return;
    std::uint32_t& index = finding_of(key);
    if (index == ptx::kNone) index = add(make());
    findings_[index].count += times;
    recent_ = {key, index};
  }
  // Adds `times` to the count of the finding with `key`, if that was reported last; a flood of
  // reports of one place costs no more.
  bool count_again(const Key& key, std::uint64_t times = 1) {
    if (recent_.finding == ptx::kNone || recent_.key != key) return false;
    findings_[recent_.finding].count += times;
    return true;
  }
  // Reports a race between two threads that are `relation` apart.  If `relation` is wider than
  // before, the result of make() replaces the finding.
  template <typename Make>
  void report(const Key& key, Relation relation, Make&& make) {
    const bool is_recent = recent_.finding != ptx::kNone && recent_.key == key;
    std::uint32_t& index = is_recent ? recent_.finding : finding_of(key);
    if (index == ptx::kNone) {
      Finding finding = make();
      finding.relation = relation;
      index = add(std::move(finding));
    } else if (relation != findings_[index].relation && is_wider(index, relation)) {
      Finding finding = make();
      weigh(finding);
      widen(index, std::move(finding), relation);
    } else if (is_excused(index)) [[unlikely]] {
      // Other threads may race at the same lines without the excuse.
      Finding finding = make();
      weigh(finding);
      if (finding.severity == Severity::error) {
        finding.relation = relation;
        finding.count = findings_[index].count;
        findings_[index] = std::move(finding);
        if (listener_) listener_(index);
      }
    }
    ++findings_[index].count;
    if (!is_recent) recent_ = {key, index};
  }

  // Returns the place of a thread of the launch that runs.
  [[nodiscard]] CodePlace place_of(const Program& program, std::uint32_t pc, ThreadId who) const {
    return {&program, pc, grid_.position_of(who.block), block_.position_of(who.thread)};
  }
  [[nodiscard]] AccessSide side(std::string_view role, const Program& program, std::uint32_t pc,
                                ThreadId who) const;

  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }

  // The address of an access that follows is made of a wrong integer.
  //   why: a sentence; empty: not known
  void explain_address(const Program& program, std::uint32_t pc, std::string why) {
    explained_ = {&program, pc, std::move(why)};
  }
  // Returns why the address of an access is wrong; empty: not known.
  [[nodiscard]] std::string_view why_address(const Program& program, std::uint32_t pc) const {
    return explained_.program == &program && explained_.pc == pc ? explained_.why
                                                                 : std::string_view();
  }

  // Is called with the index of a new finding.  The finding's count is not yet known then.
  using Listener = std::function<void(std::size_t)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }

  // Sets the source of causes; not owned; null: no causes are known.
  void set_causes(const Causes* causes) { causes_ = causes; }
  [[nodiscard]] const Causes* causes() const { return causes_; }
  // Sets what is known of memory that nothing has written; not owned; null: nothing.
  void set_unwritten(UnwrittenMemory* unwritten) { unwritten_ = unwritten; }
  [[nodiscard]] UnwrittenMemory* unwritten() const { return unwritten_; }
  // Returns whether the latest store to the byte has left an undefined value there, and not only
  // padding.
  [[nodiscard]] bool holds_undefined(const Allocation& allocation, std::uint32_t offset) const;
  // As of Causes.
  [[nodiscard]] HostPlace place_of_allocation(const Allocation& allocation) const {
    return causes_ == nullptr ? HostPlace{} : causes_->place_of_allocation(allocation);
  }
  [[nodiscard]] HostPlace place_of_free(const Allocation& allocation) const {
    return causes_ == nullptr ? HostPlace{} : causes_->place_of_free(allocation);
  }
  [[nodiscard]] HostPlace place_of_call() const {
    return causes_ == nullptr ? HostPlace{} : causes_->place_of_call();
  }
  [[nodiscard]] std::uint32_t number_of_call() const {
    return causes_ == nullptr ? 0 : causes_->number_of_call();
  }

 private:
  struct Entry {
    Key key;
    std::uint32_t finding = ptx::kNone;  // kNone: the entry is free
  };
  // Returns the entry's finding. kNone: the key is new, and the caller must set the finding.
  std::uint32_t& finding_of(const Key& key);
  // Adds the finding, or finds an existing one with the same roles and source lines.  Returns its
  // index.
  std::uint32_t add(Finding&& finding);
  [[nodiscard]] bool is_wider(std::uint32_t index, Relation relation);
  static void weigh(Finding& finding);
  // Returns whether a known pattern made the finding a note because of its threads; after some
  // thousand of them, the others are taken to be alike.
  [[nodiscard]] bool is_excused(std::uint32_t index) const {
    constexpr std::uint64_t kLookedAtMax = 4096;
    const Finding& finding = findings_[index];
    return finding.severity == Severity::note && finding.relation == Relation::blocks &&
           finding.count < kLookedAtMax && is_excused_by_threads(finding);
  }
  [[nodiscard]] static bool is_excused_by_threads(const Finding& finding);
  void widen(std::uint32_t index, Finding&& finding, Relation relation);
  void grow();

  struct Explained {
    const Program* program = nullptr;
    std::uint32_t pc = 0;
    std::string why;
  };

  Dim3 grid_, block_;
  Explained explained_;
  std::vector<Finding> findings_;
  Listener listener_;
  const Causes* causes_ = nullptr;
  UnwrittenMemory* unwritten_ = nullptr;
  // open addressing; its size is a power of two, at most half of it is full
  std::vector<Entry> table_;
  std::size_t entries_ = 0;
  Entry recent_;  // of the last report
};

}  // namespace warpcheck::vgpu
