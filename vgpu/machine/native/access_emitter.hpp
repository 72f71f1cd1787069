// Weak loads and stores.  Internal to vgpu/machine/native.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/machine/native/record_emitter.hpp"
#include "vgpu/machine/native/site_emitter.hpp"

namespace warpcheck::vgpu::native {

class AccessEmitter : public SiteEmitter {
 public:
  AccessEmitter(EmitterState& state, RecordEmitter& recorder)
      : SiteEmitter(state), recorder_(recorder) {}

  // The block in [begin, end) of the code is emitted next.
  void begin_block(const std::vector<Instr>& code, std::uint32_t begin, std::uint32_t end) {
    shared_.begin_block(code, begin, end);
    shaped_.fill(ptx::kNone);
  }
  // Emits a weak load or store of one element per lane.  False: it is not of that kind.
  //   rest: the instructions of the block after it
  bool emit(const Instr& instr, std::uint32_t pc, const Counted& rest);
  // Emits a weak load or store for some lanes, those in edx, whose rows are in memory.  False: it
  // is not of that kind.
  //   is_row: the addresses of all lanes are known to be consecutive
  bool emit_partially(const Instr& instr, std::uint32_t pc, const Counted& rest, bool is_row);
  // Returns whether the addresses of an access are known to be consecutive.
  [[nodiscard]] bool is_row(const Instr& instr) const {
    return moves_rows(instr) &&
           ascends(instr[MemoryOperand::address],
                   ptx::bytes_of(instr.modifiers.type) * instr.modifiers.vector);
  }

 private:
  // emit_access.cpp
  void execute_slowly(const Site& site);
  std::optional<Share> take_share(std::uint32_t pc);
  bool emit_known(const Site& site, bool strided);
  void find_and_tell(const Site& site, bool strided);
  void tally_row(const Site& site, bool strided, asmjit::Label done);
  void move_row(const Site& site, bool strided);
  void move_vector(const Site& site, bool strided);
  // emit_partial.cpp
  void check_some_lanes(const Site& site, bool is_row);
  void find_some_lanes(const Site& site);
  void record_some_lanes(const Site& site);
  void move_some_lanes(const Site& site);
  // emit_scattered.cpp
  [[nodiscard]] bool scatters(const Site& site) const;
  void find_scattered(const Site& site, const std::optional<Share>& share);
  void call_report(const Site& site, Pattern pattern);
  void move_scattered(const Site& site);
  void move_lanes_at(const Site& site, std::uint32_t element, const x86::Mem& offsets);

  RecordEmitter& recorder_;
  SharedAddresses shared_;
  // By place: the access whose code leaves the shape there.
  std::array<std::uint32_t, SharedAddresses::kPlaces> shaped_{};
};

}  // namespace warpcheck::vgpu::native
