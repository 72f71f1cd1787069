// the recording of rows of shared memory (access_record.hpp).  Internal to vgpu/machine/native.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/machine/access/access_record.hpp"
#include "vgpu/machine/native/register_emitter.hpp"
#include "vgpu/machine/native/site.hpp"

namespace warpcheck::vgpu::native {

enum class RecordedAs : std::uint8_t { row, uniform, some, single };  // some, single: lanes in r8d

class RecordEmitter : public RegisterEmitter {
 public:
  explicit RecordEmitter(EmitterState& state)
      : RegisterEmitter(state), logs_loads_(state.logs_loads) {}

  [[nodiscard]] static bool is_recorded(const Site& site, bool strided);
  void record(const Site& site, RecordedAs as, asmjit::Label reported);
  void record_atomics(const Site& site, asmjit::Label reported);
  [[nodiscard]] static bool may_queue(const Site& site);
  void queue_read(const Site& site, Pattern pattern, bool some, asmjit::Label queued);
  void queue_atomics(const Site& site, Pattern pattern, asmjit::Label reported);
  // Returns whether the code can mark the words of the access as their thread's.
  [[nodiscard]] static bool may_own(const Site& site, Pattern pattern);
  void queue_write(const Site& site, Pattern pattern, asmjit::Label queued);
  [[nodiscard]] static bool records_lanes(const Site& site);
  void call_record_lanes(const Site& site, asmjit::Label recorded);
  // Emits the subroutines that the other code calls, after all other code.
  void emit_subroutines();

 private:
  // emit_recorded_rows.cpp
  void find_place(std::size_t next, std::size_t limit, asmjit::Label reported);
  void put_row(const Site& site, RecordedAs as);
  void record_states(const Site& site, bool strided, asmjit::Label reported);
  void record_some_states(const Site& site, asmjit::Label reported);
  void record_single(const Site& site, asmjit::Label reported, asmjit::Label done);
  void find_mark_of_warp();
  void mark_uniform(const Site& site, asmjit::Label reported);
  void mark_row(const Site& site, bool some, asmjit::Label reported);
  void keep_written();
  void mark_met(asmjit::Label reported);
  // emit_logged_loads.cpp
  void log_load(const Site& site, Pattern pattern, bool some);
  // emit_queued_rows.cpp
  void begin_queue(const Site& site, asmjit::Label reported);
  void put_queued(const Site& site, Pattern pattern, std::uint8_t scope, bool some);
  // emit_owned_rows.cpp
  void own_row(const Site& site, Pattern pattern, asmjit::Label reported);
  void own_uniform(const Site& site, asmjit::Label reported);
  [[nodiscard]] unsigned owner_parts(const Site& site) const;
  [[nodiscard]] x86::Mem owners_at(unsigned part) const;
  [[nodiscard]] asmjit::InstId xor_id() const { return is_512_ ? Inst::kIdVpxord : Inst::kIdVpxor; }
  void find_own(const Site& site, unsigned part);
  void gather_owners(unsigned to, unsigned part);
  void find_owners(const Site& site, Pattern pattern, asmjit::Label met);
  void put_owners(const Site& site, Pattern pattern);
  void scatter_owners();
  void go_if_apart(asmjit::Label apart);
  void check_owners(asmjit::Label met);
  void refuse_written(unsigned from, asmjit::Label reported);
  void find_mark_of_many();
  void own_met_row(const Site& site, asmjit::Label reported);
  void own_met_lanes(asmjit::Label reported);
  // emit_recorded_lanes.cpp: where a subroutine goes on
  struct LanesLabels {
    asmjit::Label reported;  // the row must be reported
    asmjit::Label lanes;     // the lanes are in any order
    asmjit::Label defined;   // they are, and their words are defined
    asmjit::Label row;       // the words are marked
  };
  void record_lanes(unsigned size_log2);
  void find_place_of_lanes(asmjit::Label reported);
  void record_halves(const LanesLabels& to, unsigned size_log2);
  void record_halves(const LanesLabels& to, unsigned size_log2, std::array<bool, 2> uniform);
  void check_states_of_halves(unsigned size_log2, std::array<bool, 2> uniform,
                              asmjit::Label reported);
  void load_of_half(const x86::Ymm& to, const x86::Mem& from, std::uint32_t bytes);
  void record_words_in_any_order(const LanesLabels& to);
  void record_lanes_states(asmjit::Label reported);
  void find_marks_of_lanes();
  void refuse_written_lanes(asmjit::Label reported);
  void put_scattered_row(unsigned size_log2, bool is_write);
  void record_lanes_alone(bool is_write, asmjit::Label others, asmjit::Label row);
  // emit_stored_lanes.cpp
  void record_stored_lanes();

  const bool logs_loads_;  // EmitterState
  // Subroutines, by log2 of a lane's bytes; not valid: not called so far.
  std::array<asmjit::Label, 3> record_lanes_;
  asmjit::Label record_stored_lanes_;
};

}  // namespace warpcheck::vgpu::native
