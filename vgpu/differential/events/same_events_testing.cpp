#include "vgpu/differential/events/same_events_testing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "vgpu/differential/engine.hpp"
#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"

namespace warpcheck::vgpu {
namespace {

// Represents each event as a hash of all its data.
class Events final : public Observer, private UndefinedMemory {
 public:
  [[nodiscard]] UndefinedMemory* undefined_memory() override {
    return makes_undefined_ ? this : nullptr;
  }
  void on_access(const Access& access) override {
    if (takes_rows_) return;
    begin(1, access.place);
    add(access.pc, access.mask, static_cast<std::uint64_t>(access.kind),
        static_cast<std::uint64_t>(access.pattern), static_cast<std::uint64_t>(access.order),
        static_cast<std::uint64_t>(access.scope), static_cast<std::uint64_t>(access.space),
        access.bytes, access.element_bytes, access.value_bytes, access.undefined,
        access.allocation->id);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if ((access.mask >> lane & 1) == 0) continue;
      add(access.offset[lane]);
      for (const std::byte* const row : access.values) {
        if (row == nullptr) continue;
        std::uint64_t value = 0;
        std::memcpy(&value, row + std::size_t{lane} * access.value_bytes, access.value_bytes);
        add(value);
      }
      std::array<std::uint64_t, 2> held{};  // before the access
      std::memcpy(held.data(), access.allocation->data + access.offset[lane], access.bytes);
      add(held[0], held[1]);
    }
  }
  bool takes_row(const RowAccess& /*row*/) override { return takes_rows_; }
  [[nodiscard]] bool watches_accesses_of(const Program& /*program*/) const override {
    return sees_accesses_;
  }
  void on_sync(const Sync& sync) override {
    begin(2, sync.place);
    add(static_cast<std::uint64_t>(sync.kind));
  }
  void on_fence(const Fence& fence) override {
    begin(3, fence.place);
    add(fence.pc, fence.mask);
  }
  void on_meeting(const Meeting& meeting) override {
    begin(4, meeting.place);
    for (const WarpLanes& lanes : meeting.released) add(lanes.warp, lanes.lanes);
  }
  [[nodiscard]] Watched watches() const override { return {.collectives = true}; }
  void on_collective(const Collective& event) override {
    begin(5, event.place);
    add(event.pc, event.mask, event.members);
  }
  void on_undefined_use(const UndefinedUse& use) override {
    begin(6, use.place);
    add(use.pc, use.lanes, use.origin, static_cast<std::uint64_t>(use.kind));
  }
  void on_fault(const Fault& fault) override {
    begin(7, fault.place);
    add(fault.pc, fault.lane, fault.address);
  }
  void on_edge(std::uint32_t from, std::uint32_t to, const Program& /*program*/) override {
    begin(8, {});
    add(from, to);
  }

  std::vector<std::uint64_t> seen;
  bool makes_undefined_ = false;
  bool takes_rows_ = false;  // and counts no access: which are rows is not the same both ways
  bool sees_accesses_ = true;

 private:
  // Every seventh load finds undefined bits.
  void read(Access& access) override {
    if (access.kind != AccessKind::read || seen.size() % 7 != 2) return;
    access.undefined = access.mask;
    access.origin = access.pc;
    access.of_element.fill({access.mask, access.pc});
  }
  void write(const Access& /*access*/) override {}

  void begin(std::uint64_t kind, const WarpPlace& place) {
    seen.push_back(kind);
    add(place.block, place.warp, place.slot, place.phase);
  }
  template <class... Numbers>
  void add(Numbers... numbers) {
    ((seen.back() = (seen.back() ^ numbers) * 0x9e3779b97f4a7c15u >> 7 ^ seen.back() << 11), ...);
  }
};

struct Way {
  const char* strategy;
  std::uint32_t quantum;
  bool makes_undefined;
  bool takes_rows = false;
  bool sees_accesses = true;  // otherwise warps of a block run in rounds
};

// Returns what differs between the interpreter and machine code, first of all; empty: nothing.
std::string difference(const std::array<Result, 2>& results, const std::array<Events, 2>& watched) {
  const auto& [interpreted, compiled] = results;
  if (interpreted.problem != compiled.problem) {
    return fmt::format("'{}' interpreted, '{}' as machine code", interpreted.problem,
                       compiled.problem);
  }
  const auto& [expected, found] = watched;
  const auto [one, other] = std::ranges::mismatch(expected.seen, found.seen);
  if (one != expected.seen.end() || other != found.seen.end()) {
    return fmt::format("event {} of {} and {} differs", one - expected.seen.begin(),
                       expected.seen.size(), found.seen.size());
  }
  const auto [byte, its_other] = std::ranges::mismatch(interpreted.bytes, compiled.bytes);
  if (byte != interpreted.bytes.end() || its_other != compiled.bytes.end()) {
    return fmt::format("byte {} of the buffer differs", byte - interpreted.bytes.begin());
  }
  if (interpreted.steps != compiled.steps) return "the steps differ";
  if (interpreted.lane_steps != compiled.lane_steps) return "the steps of lanes differ";
  return interpreted.decisions != compiled.decisions ? "the decisions differ" : "";
}

}  // namespace

EventComparison events_both_ways(const std::string& text, std::uint64_t seed,
                                 const EventShape& shape) {
  const ptx::Module module = ptx::parse(text, "random");
  EventComparison comparison;
  for (const Way& way :
       {Way{"default", 4096, false}, Way{"random", 4096, false}, Way{"pct", 37, false},
        Way{"default", 4096, true}, Way{"random", 5, true}, Way{"default", 4096, false, true},
        Way{"default", 4096, false, false, false}, Way{"default", 23, false, false, false}}) {
    for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
      if (level > host_simd_level()) continue;
      std::array<Events, 2> watched;
      std::array<Result, 2> results;
      for (const bool compiles : {false, true}) {
        watched[compiles].makes_undefined_ = way.makes_undefined;
        watched[compiles].takes_rows_ = way.takes_rows;
        watched[compiles].sees_accesses_ = way.sees_accesses;
        results[compiles] = run_on_machine(module, threads_of(text),
                                           {.level = level,
                                            .strategy = way.strategy,
                                            .seed = seed,
                                            .compiles = compiles,
                                            .quantum = way.quantum,
                                            .row = shape.row,
                                            .watches = &watched[compiles],
                                            .blocks = shape.blocks,
                                            .launches = shape.launches});
      }
      comparison.events += watched[0].seen.size();
      const std::string differs = difference(results, watched);
      if (differs.empty()) continue;
      comparison.difference = fmt::format(
          "schedule {} with quantum {}{}{}{}, {}: {}", way.strategy, way.quantum,
          way.makes_undefined ? ", undefined values" : "", way.takes_rows ? ", rows taken" : "",
          way.sees_accesses ? "" : ", accesses unseen", name_of(level), differs);
      return comparison;
    }
  }
  return comparison;
}

}  // namespace warpcheck::vgpu
