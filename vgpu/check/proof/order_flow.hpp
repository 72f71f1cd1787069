// Names the instructions through which the order of threads reaches the bytes that the host copies:
// atomic operations whose order matters, accesses that share values without a barrier, and
// instructions that see which lanes are active.
//
// One run says what may depend on the order.  That a result does depend on it is for the caller to
// show, by comparing the bytes of two runs: a list that is sorted afterwards is the same in any
// order, and nothing is named then.
//
// A value keeps one origin.  To find all of them, the case is run again without those that are
// known, until nothing that differs is marked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/check/proof/value_flow.hpp"

namespace warpcheck::vgpu {

// An instruction, for runs that decode their programs anew.
struct OrderPoint {
  std::string kernel;  // mangled
  AccessSide side;     // the first thread that has executed it, if it is an access
  friend bool operator==(const OrderPoint& a, const OrderPoint& b) {
    return a.kernel == b.kernel && a.side.instruction == b.side.instruction;
  }
};

class OrderFlow final : public ValueFlow {
 public:
  // without: accesses whose order is not followed
  explicit OrderFlow(std::vector<OrderPoint> without = {})
      : ValueFlow({.data = false, .order = true}), without_(std::move(without)) {}

  // A copy to the host.
  struct Copy {
    std::vector<std::byte> bytes;
    std::map<std::uint32_t, std::uint32_t> marks;  // the bytes that are followed, and their places
  };
  // The order decides which instructions are executed, what they access, or what they do.
  struct Decision {
    Obstacle::Kind kind = Obstacle::Kind::branch;  // address, branch, operand
    AccessSide at;
    std::vector<OrderPoint> sources;
  };
  // In their order.
  [[nodiscard]] const std::vector<Copy>& copies() const { return copies_; }
  // Returns the mark of a byte of memory as it is now; nothing: it is not followed.
  [[nodiscard]] std::optional<std::uint32_t> mark_in(const Allocation& allocation,
                                                     std::uint32_t offset);
  // Returns the mark of a byte of the latest copy of `bytes` bytes, which may be several of
  // copies(), one for each of its rows; nothing: it is not followed.
  [[nodiscard]] std::optional<std::uint32_t> mark_in_latest(std::uint64_t bytes,
                                                            std::uint64_t byte) const;
  // Returns where the value of a followed byte comes from.
  [[nodiscard]] std::vector<OrderPoint> sources_of(std::uint32_t mark) const;
  // In order of first occurrence; those of which the origin is known.
  [[nodiscard]] std::vector<Decision> decisions() const;

  void on_sync(const Sync& sync) override;
  void on_undefined_use(const UndefinedUse& use) override;
  void on_host_access(const HostAccess& access) override;

 private:
  struct Use {
    Obstacle::Kind kind = Obstacle::Kind::branch;
    Origin at, from;
    AccessSide side{};
  };

  void read(Access& access) override;
  void write(const Access& access) override;
  [[nodiscard]] bool follows_order_of(const Access& access) const override;
  void add_ways(const Access& access);
  [[nodiscard]] AccessSide side_of(std::string_view role, const Origin& at, const WarpPlace& place,
                                   std::uint32_t lanes) const;
  // Remembers the first access of an instruction that shows an order.
  void add_source(const Access& access);
  [[nodiscard]] bool is_source(const Origin& origin) const;
  [[nodiscard]] OrderPoint point_of(const Origin& origin) const;
  [[nodiscard]] std::vector<OrderPoint> sources_of(const Origin& origin) const;

  std::vector<OrderPoint> without_;
  Dim3 grid_, block_;
  std::map<Origin, AccessSide> shown_;  // sources that are accesses
  std::map<Origin, std::set<Origin>>
      ways_;                   // by an access: where the bytes that it finds come from
  std::vector<Origin> marks_;  // of Copy::marks
  std::vector<Use> uses_;
  std::vector<Copy> copies_;
};

}  // namespace warpcheck::vgpu
