// Carries the shadow values of a domain (shadow_domain.hpp) with the numbers of a run: an observer
// of steps, so launches that nobody shadows pay nothing, and the machine does not know of it.
//
// Before an instruction is executed, the plane reads the shadows of its operands; afterwards it
// gives the shadow of the result.  What a load or store moves, it moves when the access is
// reported.  An instruction without a rule loses what it calculates from shadow values: the result
// is `lost`, with the place (sites()).  Bytes that nothing has influenced are `plain`, and cost
// nothing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "vgpu/check/reporter.hpp"
#include "vgpu/check/shadow/exact_literals.hpp"
#include "vgpu/check/shadow/shadow_host.hpp"
#include "vgpu/check/shadow/shadow_meetings.hpp"
#include "vgpu/check/shadow/shadow_registers.hpp"
#include "vgpu/check/shadow/shadow_rules.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

template <class Domain>
class ShadowPlane : public Observer {
 public:
  using Value = typename Domain::Value;
  using Cells = ShadowCells<Value>;
  using Reading = ShadowReading<Value>;
  using Operand = ShadowOperand<Value>;

  explicit ShadowPlane(Domain& domain) : domain_(domain) {}

  // Where values were lost; a site is an index.
  [[nodiscard]] const std::vector<AccessSide>& sites() const { return sites_; }
  // What the host gives to the device, and what it has got.
  [[nodiscard]] ShadowHost<Value>& host() { return host_; }
  [[nodiscard]] const ShadowHost<Value>& host() const { return host_; }

  // The shadow of what memory, or a lane's register before its next step, holds.
  [[nodiscard]] Reading in_memory(const Allocation& allocation, std::uint64_t offset,
                                  std::uint32_t bytes) {
    return memory_of(allocation).read(offset, bytes, kTorn);
  }

  // The same of a lane's local memory; offset: as of accesses.
  [[nodiscard]] Reading in_local_memory(const Allocation& allocation, unsigned lane,
                                        std::uint32_t offset, std::uint32_t bytes) {
    return memory_of(allocation).read(place_in_lane(allocation, lane, offset), bytes, kTorn);
  }

  // Returns whether the memory holds anything but plain bytes.
  [[nodiscard]] bool is_known(const Allocation& allocation) {
    return !memory_of(allocation).empty();
  }
  // The bytes are plain from now on.
  void forget(const Allocation& allocation, std::uint32_t offset, std::uint32_t bytes) {
    memory_of(allocation).make_plain(offset, bytes);
  }

  [[nodiscard]] Watched watches() const override { return {.collectives = true, .steps = true}; }
  void on_allocate(const Allocation& allocation) override { forget(allocation); }
  void on_free(const Allocation& allocation) override { forget(allocation); }
  void on_hand_out(const Allocation& allocation, std::uint32_t offset,
                   std::uint32_t bytes) override {
    forget(allocation, offset, bytes);
  }
  void on_sync(const Sync& sync) override {
    if (sync.kind == Sync::Kind::kernel_start) {
      warps_.clear();
      last_warp_ = nullptr;
    }
    if (sync.kind != Sync::Kind::block_start) return;
    if (sync.shared != nullptr) forget(*sync.shared);
    for (auto& [place, warp] : warps_) {
      if (place.first == sync.place.slot) warp = {};
    }
  }
  void on_host_access(const HostAccess& access) override {
    if (access.frees || access.allocates) return;
    Cells& cells = memory_of(*access.allocation);
    if (access.write) {
      host_.copy_to_device(access, cells);
    } else {
      host_.copy_to_host(access, cells);
    }
  }
  void on_device_copy(const DeviceCopy& copy) override {
    Cells bytes;  // the ranges may overlap
    bytes.copy(0, memory_of(*copy.source), copy.source_offset, copy.bytes);
    Cells& target = memory_of(*copy.target);
    target.make_plain(copy.target_offset, copy.bytes);
    target.copy(copy.target_offset, bytes, 0, copy.bytes);
  }
  void on_step(const InstrStep& step) override;
  void on_step_end(const InstrStep& step) override;
  void on_access(const Access& access) override;
  void on_collective(const Collective& collective) override {
    WarpShadow& warp = warp_of(collective.place);
    warp.meetings.finish(domain_, collective, warp.registers, [&](unsigned lane) {
      return step_at(*collective.program, collective.pc, collective.place, lane);
    });
  }

 private:
  static constexpr std::uint32_t kTorn = 0;  // the site of bytes whose values were taken apart
  static constexpr Reading kPlainReading{};
  static constexpr bool kFollowsOutcomes = requires(Domain & domain, const ShadowStep& at) {
    domain.outcome_used(at);
  };

  struct WarpShadow {
    ShadowRegisters<Value> registers;
    ShadowMeetings<Domain> meetings;
  };
  // The instruction that is being executed.
  struct Current {
    InstrStep step;
    const Instr* instr = nullptr;
    const ShadowRule* rule = nullptr;  // compute
    ShadowFrame frame;
    WarpShadow* warp = nullptr;
    std::uint32_t site = kNoSite;
    // calculate: the operands of each lane and element; the lanes whose result is lost, and those
    // that the domain calculates
    std::array<std::array<std::array<Operand, 4>, kWarpLanes>, 2> operands;  // by element and lane
    std::array<std::array<std::uint32_t, kWarpLanes>, 2> lost_at;
    std::array<std::uint32_t, 2> lost{}, calculated{};
    std::uint32_t moved_bits = 0;  // lanes that have their results already
    // By lane: bytes that the operands and the result share.
    std::map<unsigned, std::array<typename Cells::Byte, 8>> moved_parts;
    std::uint32_t combined = 0;  // compare: the predicate that the outcome is combined with
    // of memory: the bytes that each lane has moved so far; for copies, what it has read
    std::array<std::uint32_t, kWarpLanes> moved{};
    std::array<std::uint32_t, kWarpLanes> fetched{};
    Cells buffer;
    // of an atomic: what places hold that lanes have swapped, and those that lanes have changed
    // without making their contents depend on data
    std::map<std::uint64_t, std::uint64_t> cells_swapped;
    std::vector<std::uint64_t> updated_plain;
  };
  static constexpr std::uint32_t kNoSite = ptx::kNone;
  static constexpr std::uint64_t kBufferBytes = 512;  // of a lane

  // Words of local memory are interleaved; in the plane, a lane's are adjacent.
  static std::uint64_t place_in_lane(const Allocation& allocation, unsigned lane,
                                     std::uint64_t offset) {
    return lane * (allocation.bytes / kWarpLanes) + offset / kWordRowBytes * 4 + offset % 4;
  }
  static ShadowStep step_at(const Program& program, std::uint32_t pc, const WarpPlace& place,
                            unsigned lane) {
    return {&program, pc, place, lane};
  }
  [[nodiscard]] ShadowStep here(unsigned lane) const {
    return step_at(*current_.step.program, current_.step.pc, current_.step.place, lane);
  }
  template <class Visit>
  static void for_each_lane(std::uint32_t lanes, Visit visit) {
    for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
  }

  // Returns the number of the place that is executed.
  std::uint32_t site() {
    if (current_.site == kNoSite) current_.site = site_of(*current_.step.program, current_.step.pc);
    return current_.site;
  }
  std::uint32_t site_of(const Program& program, std::uint32_t pc) {
    const auto [at, is_new] =
        numbers_.try_emplace({&program, pc}, static_cast<std::uint32_t>(sites_.size()));
    if (is_new) {
      sites_.push_back(side_at("value", {&program, pc, Dim3{0, 0, 0}, Dim3{0, 0, 0}}));
      places_.emplace_back(&program, pc);
    }
    return at->second;
  }
  WarpShadow& warp_of(const WarpPlace& place) {
    const std::pair key(place.slot, place.warp);
    if (last_warp_ == nullptr || last_place_ != key) {
      last_place_ = key;
      last_warp_ = &warps_[key];
    }
    return *last_warp_;
  }
  const ShadowRule& rule_of(const Program& program, std::uint32_t pc);
  Cells& memory_of(const Allocation& allocation) {
    if (allocation.id >= memory_.size()) memory_.resize(allocation.id + 1);
    return memory_[allocation.id];
  }
  void forget(const Allocation& allocation) {
    allocation.for_each_part([&](const Allocation& part) {
      if (part.id < memory_.size()) memory_[part.id].clear();
    });
  }

  void check_lanes(const Ref& ref, std::uint32_t lanes, ShadowDecision decision);
  void check_guard();
  void use_outcome(ShadowPredicates<Value>& predicates, unsigned lane);
  void use_outcomes();
  void begin_compute();
  void gather(const ShadowRule& rule);
  void gather_source(const ShadowRule& rule, std::size_t source, std::uint32_t lanes,
                     std::uint32_t element);
  [[nodiscard]] Reading read_operand(const Ref& ref, unsigned lane, std::uint32_t from,
                                     std::uint32_t bytes, ptx::Type type) const;
  bool gather_row(const Ref& ref, ptx::Type type, std::size_t source, std::uint32_t lanes,
                  std::uint32_t element);
  void gather_operand(const Reading& reading, std::uint64_t bits, ptx::Type type,
                      std::size_t source, unsigned lane, std::uint32_t element);
  void calculate(const ShadowRule& rule);
  [[nodiscard]] static bool depends_on_data(std::span<const Operand> operands, bool is_lost);
  [[nodiscard]] std::uint32_t move_bits(std::uint32_t lanes);
  void put_parts(const Ref& to, unsigned lane, const std::array<typename Cells::Byte, 8>& parts);
  void move_row(const Ref& to, const Ref& from);
  void pack(bool unpacks);
  void put_together(Cells& words, unsigned lane) const;
  void select();
  [[nodiscard]] ptx::Type selected_type(const Reading& other,
                                        const ShadowComparison<Value>& comparison) const;
  [[nodiscard]] std::optional<Value> selected(const ShadowPredicates<Value>& predicates,
                                              unsigned lane);
  void compare(const ShadowRule& rule);
  void set_numbers(const ShadowRule& rule);
  [[nodiscard]] bool combines(unsigned lane, ShadowComparison<Value>& comparison) const;
  void combine_predicates();
  void lose_results(std::uint32_t lanes);
  [[nodiscard]] std::uint32_t lanes_with_data(std::uint32_t lanes);
  void begin_memory();
  void begin_other();
  void move_accessed(const Access& access, unsigned lane, Cells& memory, std::uint64_t at);
  void load_of_product(const Access& access, unsigned lane, Cells& memory, std::uint64_t at);
  void copy_accessed(const Access& access, unsigned lane, Cells& memory, std::uint64_t at);
  void update(const Access& access, unsigned lane, Cells& memory, std::uint64_t at);
  void put_register(Cells& memory, std::uint64_t at, const Ref& ref, unsigned lane,
                    std::uint32_t bytes);
  void swap(Cells& memory, std::uint64_t at, unsigned lane, std::uint64_t found,
            std::uint32_t bytes);
  void combine(Cells& memory, std::uint64_t at, const Ref& ref, unsigned lane, std::uint32_t part,
               std::uint64_t found);
  std::optional<Value> value_of(const Reading& reading, std::uint64_t bits, ptx::Type type);
  [[nodiscard]] static Reading as_type(const Reading& reading, ptx::Type type);

  Domain& domain_;
  ShadowHost<Value> host_;
  std::vector<AccessSide> sites_{AccessSide{"bytes of a value", {}, {}, {}, 0, {}}};
  std::vector<std::pair<const Program*, std::uint32_t>> places_{{nullptr, 0}};  // of sites_
  std::map<std::pair<const Program*, std::uint32_t>, std::uint32_t> numbers_;
  std::map<const Program*, std::vector<ShadowRule>> rules_;
  const Program* last_program_ = nullptr;
  const std::vector<ShadowRule>* last_rules_ = nullptr;
  std::vector<Cells> memory_;                                            // by Allocation::id
  std::map<std::pair<std::uint32_t, std::uint32_t>, WarpShadow> warps_;  // by slot and warp
  std::pair<std::uint32_t, std::uint32_t> last_place_;
  WarpShadow* last_warp_ = nullptr;  // of last_place_
  Current current_;
};

}  // namespace warpcheck::vgpu

#include "vgpu/check/shadow/shadow_plane_bits.hpp"  // definitions
#include "vgpu/check/shadow/shadow_plane_compare.hpp"
#include "vgpu/check/shadow/shadow_plane_compute.hpp"
#include "vgpu/check/shadow/shadow_plane_memory.hpp"
