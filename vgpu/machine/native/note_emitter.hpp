// The noting of rows of shared memory (noted_rows.hpp).  Internal to vgpu/machine/native.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/native/register_emitter.hpp"
#include "vgpu/machine/native/site.hpp"

namespace warpcheck::vgpu::native {

enum class NotedAs : std::uint8_t { row, uniform, some, single };  // some, single: lanes in r8d

class NoteEmitter : public RegisterEmitter {
 public:
  using RegisterEmitter::RegisterEmitter;

  [[nodiscard]] static bool is_noted(const Site& site, bool strided);
  void note(const Site& site, NotedAs as, asmjit::Label untold);
  void note_update(const Site& site, asmjit::Label untold);
  void call_note_lanes(const Site& site, asmjit::Label noted);
  // Emits the subroutines that the other code calls, after all other code.
  void emit_subroutines();

 private:
  // emit_notes.cpp
  void find_place(std::size_t next, std::size_t limit, asmjit::Label untold);
  void put_row(const Site& site, NotedAs as);
  void note_states(const Site& site, bool strided, asmjit::Label untold);
  void note_some_states(const Site& site, asmjit::Label untold);
  void note_single(const Site& site, asmjit::Label untold, asmjit::Label done);
  void find_mark_of_warp();
  void mark_uniform(asmjit::Label untold);
  void mark_row(const Site& site, bool some, asmjit::Label untold);
  void keep_written();
  void mark_met(asmjit::Label untold);
  // emit_noted_lanes.cpp
  void note_lanes_states(asmjit::Label untold);
  void find_marks_of_lanes();
  void refuse_written_lanes(asmjit::Label untold);
  void put_scattered_row();
  void note_lanes_alone(asmjit::Label many, asmjit::Label row);

  asmjit::Label note_lanes_;  // a subroutine; not valid: not called so far
};

}  // namespace warpcheck::vgpu::native
