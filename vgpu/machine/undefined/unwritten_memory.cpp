#include "vgpu/machine/undefined/unwritten_memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "vgpu/machine/block_share.hpp"
#include "vgpu/machine/memory/rows.hpp"

namespace warpcheck::vgpu {
namespace {

// Calls visit with a value of the unsigned type whose size is that of one lane's access.
template <typename Visit>
void with_word(unsigned bytes, Visit visit) {
  switch (bytes) {
    case 1: return visit(std::uint8_t{});
    case 2: return visit(std::uint16_t{});
    case 4: return visit(std::uint32_t{});
    case 8: return visit(std::uint64_t{});
    default: return visit(static_cast<unsigned __int128>(0));
  }
}

template <typename Word>
Word load(const std::uint8_t* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Returns the offset at which lane 0 of a strided row begins; it may be before the allocation.
std::int64_t row_begin(const Access& access) {
  const unsigned first = access.first_lane();
  return std::int64_t{access.offset[first]} - std::int64_t{first} * access.bytes;
}

// Returns whether the words of all lanes are defined.
//   States: ByteStates, or SectorStates
template <typename Word, typename States>
bool are_words_defined(const std::uint32_t* offsets, const States& states) {
  bool are_defined = true;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    are_defined &= states.template is_defined<Word>(offsets[lane]);
  }
  return are_defined;
}
template <typename Word>
bool are_words_defined(const std::uint32_t* offsets, const ByteStates& states) {
  Word all = kAllDefined<Word>;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    all &= load<Word>(states.states + offsets[lane]);
  }
  return all == kAllDefined<Word>;
}

// Returns the lanes that read at least one undefined byte.
template <typename Word, typename States>
std::uint32_t undefined_lanes(const Access& access, const States& states) {
  const auto is_undefined = [&](std::uint32_t offset) {
    return !states.template is_defined<Word>(offset);
  };
  if (access.pattern == Pattern::uniform) {
    return is_undefined(access.offset[access.first_lane()]) ? access.mask : 0;
  }
  if (access.pattern == Pattern::strided) {
    if (states.template is_row_defined<Word>(row_begin(access))) return 0;
  } else if (access.mask == ~0u && are_words_defined<Word>(access.offset.data(), states)) {
    return 0;
  }
  std::uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((access.mask >> lane & 1) == 0) continue;
    lanes |= std::uint32_t{is_undefined(access.offset[lane])} << lane;
  }
  return lanes;
}

// Sets a state for one word of each lane.
template <typename Word, typename States>
void set_lanes(const std::uint32_t* offsets, std::uint32_t mask, States& states,
               std::uint8_t state) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    states.set(offsets[__builtin_ctz(rest)], sizeof(Word), state);
  }
}
// States are bytes, so a store to them may be one to anything that is not a local variable.
template <typename Word>
void set_lanes(const std::uint32_t* offsets, std::uint32_t mask, ByteStates& states,
               std::uint8_t state) {
  std::uint8_t* const at = states.states;
  if (mask == ~0u) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      std::memset(at + offsets[lane], state, sizeof(Word));
    }
    return;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    std::memset(at + offsets[__builtin_ctz(rest)], state, sizeof(Word));
  }
}

// Sets a defined state for the bytes that the lanes of access.mask write.
template <typename Word, typename States>
void define_lanes(const Access& access, States& states, std::uint8_t state) {
  if (access.pattern == Pattern::uniform) {
    return states.set(access.offset[access.first_lane()], sizeof(Word), state);
  }
  if (access.pattern == Pattern::strided && access.mask == ~0u) {
    return states.template set_row<Word>(access.offset[0], state);
  }
  set_lanes<Word>(access.offset.data(), access.mask, states, state);
}

// Does the same for a row with some active lanes, or for a uniform row.
template <typename States>
void define_some(const RowAccess& row, States& states) {
  if (row.pattern == Pattern::uniform) {
    return states.set(row.first, row.bytes, StoreShapes::state_of_alone(row.bytes));
  }
  const bool is_alone = (row.mask & (row.mask - 1)) == 0;
  const std::uint8_t state = is_alone ? StoreShapes::state_of_alone(row.bytes)
                                      : StoreShapes::state_of_row(row.element_bytes);
  for (std::uint32_t rest = row.mask; rest != 0;) {
    const auto begin = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint32_t lanes = ~(rest >> begin);  // the inactive lanes that follow
    const auto end = lanes == 0 ? kWarpLanes : begin + static_cast<unsigned>(__builtin_ctz(lanes));
    states.set(row.first + begin * row.bytes, (end - begin) * row.bytes, state);
    rest = end < kWarpLanes ? rest >> end << end : 0;
  }
}

// Does the same for scattered lanes in local memory, which no host copies: no gap between lanes can
// be padding.
template <typename States>
void define_lanes_of_local(const RowAccess& row, States& states) {
  const std::uint8_t state = StoreShapes::state_of_alone(row.element_bytes);
  with_word(row.bytes, [&](auto word) {
    for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      states.set(row.offsets[lane], sizeof word, state);
    }
  });
}

// Judges up to 16 bytes that a lane writes, from byte `at` of its access on.
bool undefined_as_a_whole(const Access& access, std::uint32_t at, std::uint32_t bytes,
                          unsigned lane) {
  for (std::uint32_t begin = 0; begin < bytes; begin += 8) {
    const std::uint32_t count = std::min(bytes - begin, 8u);
    if (access.undefined_bits_at(at + begin, count, lane) != ones_of(count)) return false;
  }
  return true;
}

}  // namespace

void UnwrittenMemory::reset() {
  for (MemoryShadow& shadow : shadows_) shadow.begin(0);
  forget_notes();
  origins_.clear();
  padding_.clear();
  shapes_.reset();
}

MemoryShadow& UnwrittenMemory::begin_shadow(const Allocation& allocation) {
  if (allocation.id >= shadows_.size()) shadows_.resize(allocation.id + 1);
  shadows_[allocation.id].begin(allocation.limit());
  return shadows_[allocation.id];
}

void UnwrittenMemory::on_allocate(const Allocation& allocation) {
  shadow_of(allocation).begin(allocation.limit());
}

void UnwrittenMemory::on_free(const Allocation& allocation) {
  if (allocation.id < shadows_.size()) shadows_[allocation.id].release();
}

void UnwrittenMemory::on_hand_out(const Allocation& allocation, std::uint32_t offset,
                                  std::uint32_t bytes) {
  shadow_of(allocation).fill(offset, bytes, MemoryShadow::kNeverWritten);
}

void UnwrittenMemory::on_frame_end(const FrameEnd& frame) {
  MemoryShadow& shadow = shadow_of(*frame.allocation);
  const std::uint32_t begin = interleaved(frame.begin);
  const std::uint32_t end = interleaved(frame.begin + frame.bytes);
  if (frame.mask == ~0u) return shadow.fill(begin, end - begin, MemoryShadow::kNeverWritten);
  if (shadow.extent() == MemoryShadow::Extent::none) return;
  for (std::uint32_t row = begin; row < end; row += interleaved(4)) {
    for (std::uint32_t rest = frame.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      shadow.fill(row + 4 * lane, 4, MemoryShadow::kNeverWritten);
    }
  }
}

void UnwrittenMemory::on_unknown_writes() {
  forget_notes();
  for (MemoryShadow& shadow : shadows_) shadow.fill(0, shadow.bytes(), MemoryShadow::kDefined);
}

bool UnwrittenMemory::holds_undefined(const Allocation& allocation, std::uint32_t offset) const {
  if (allocation.id >= shadows_.size()) return false;
  const MemoryShadow& shadow = shadows_[allocation.id];
  return offset < shadow.bytes() && shadow.state_at(offset) == MemoryShadow::kUndefined &&
         !shadow.taint_at(offset).next_to_defined;
}

void UnwrittenMemory::on_sync(const Sync& sync) {
  if (sync.kind != Sync::Kind::barrier_complete) forget_notes();
  if (sync.shared == nullptr) return;
  if (sync.kind == Sync::Kind::block_start) {
    shadow_of(*sync.shared).begin(sync.shared->limit());
  } else if (sync.kind == Sync::Kind::barrier_complete) {
    MemoryShadow& shadow = shadow_of(*sync.shared);
    shadow.settle();
    if (shadow.extent() == MemoryShadow::Extent::all) noted_.settled = sync.shared;
  }
}

void UnwrittenMemory::on_host_access(const HostAccess& access) {
  if (access.ahead || !access.write) return;
  MemoryShadow& shadow = shadow_of(*access.allocation);
  if (whole_ != nullptr) return define_in_part(access, shadow);
  shadow.fill(access.offset, access.bytes,
              access.undefined ? MemoryShadow::kNeverWritten : MemoryShadow::kDefined);
}

void UnwrittenMemory::on_device_copy(const DeviceCopy& copy) {
  if (copy.ahead) return;
  if (whole_ != nullptr) return copy_in_part(copy);
  shadow_of(*copy.target);  // creates the shadow first, because references must stay valid
  const MemoryShadow& source = shadow_of(*copy.source);
  shadow_of(*copy.target).copy(copy.target_offset, source, copy.source_offset, copy.bytes);
}

std::vector<std::uint8_t> UnwrittenMemory::bits_of(const Allocation& allocation,
                                                   std::uint32_t offset, std::uint32_t bytes) {
  const MemoryShadow& shadow = shadow_of(allocation);
  const std::uint32_t end = offset + bytes;
  std::uint32_t at = shadow.find_undefined(offset, end);
  if (at == end) return {};
  std::vector<std::uint8_t> bits(bytes);
  for (; at < end; at = shadow.find_undefined(at + 1, end)) {
    const bool is_tainted = shadow.state_at(at) == MemoryShadow::kUndefined;
    bits[at - offset] = is_tainted ? shadow.taint_at(at).bits : 0xff;
  }
  return bits;
}

void UnwrittenMemory::write_range(const Allocation& allocation, std::uint32_t offset,
                                  std::uint32_t bytes, std::span<const std::uint8_t> bits,
                                  std::uint32_t origin) {
  MemoryShadow& shadow = shadow_of(allocation);
  shadow.fill(offset, bytes, MemoryShadow::kDefined);
  for (std::uint32_t i = 0; i < bits.size(); ++i) {
    if (bits[i] != 0) shadow.taint(offset + i, {origin, bits[i]});
  }
}

void UnwrittenMemory::read(Access& access) {
  if (access.space == ptx::Space::param) return;  // always defined
  MemoryShadow& shadow = shadow_of(*access.allocation);
  access.kind == AccessKind::atomic ? update(access, shadow) : find(access, shadow);
}

void UnwrittenMemory::write(const Access& access) {
  if (access.space != ptx::Space::param) leave(access, shadow_of(*access.allocation));
}

void UnwrittenMemory::find(Access& access, MemoryShadow& shadow) {
  if (shadow.extent() == MemoryShadow::Extent::all) return;
  const bool is_row_of_words = access.pattern == Pattern::strided && access.bytes == 4;
  if (is_row_of_words && shadow.has_states() && shadow.with_states([&](const auto& states) {
        return states.template is_row_defined<std::uint32_t>(row_begin(access));
      })) {
    return;  // the most frequent case
  }
  find_undefined(access, shadow);
}

// From now on, machine code uses the states itself.
inline void UnwrittenMemory::see_shared(const RowAccess& row, MemoryShadow& shadow) {
  if (row.space != ptx::Space::shared) return;
  noted_.unsettled = row.allocation;
  shadow.make_states();
  noted_.states = shadow.byte_states();
}

bool UnwrittenMemory::passes(const RowAccess& row) {
  if (row.allocation == noted_.settled) return true;
  if (row.space == ptx::Space::param) return true;
  MemoryShadow& shadow = shadow_of(*row.allocation);
  if (shadow.extent() == MemoryShadow::Extent::all) return true;
  if (row.kind == AccessKind::write) {
    const bool is_scattered = row.pattern == Pattern::scattered;
    if (is_scattered && row.space != ptx::Space::local) return false;
    make_states(*row.allocation, shadow);
    if (!is_scattered) see_shared(row, shadow);
    shadow.with_states([&](auto& states) {
      if (is_scattered) return define_lanes_of_local(row, states);
      if (row.pattern == Pattern::uniform || row.mask != ~0u) return define_some(row, states);
      with_word(row.bytes, [&](auto word) {
        states.template set_row<decltype(word)>(row.first,
                                                StoreShapes::state_of_row(row.element_bytes));
      });
    });
    return true;
  }
  if (shadow.extent() == MemoryShadow::Extent::none) return false;
  see_shared(row, shadow);
  return shadow.with_states([&](const auto& states) {
    bool is_defined = false;
    with_word(row.bytes, [&](auto word) {
      using Word = decltype(word);
      switch (row.pattern) {
        case Pattern::strided:
          is_defined = states.template is_row_defined<Word>(start_of(row.first));
          break;
        case Pattern::uniform: is_defined = states.template is_defined<Word>(row.first); break;
        case Pattern::scattered: is_defined = are_words_defined<Word>(row.offsets, states); break;
      }
    });
    return is_defined;
  });
}

void UnwrittenMemory::find_undefined(Access& access, MemoryShadow& shadow) {
  std::uint32_t lanes = access.mask;
  if (shadow.has_states()) {
    with_word(access.bytes, [&](auto word) {
      lanes = shadow.with_states(
          [&](const auto& states) { return undefined_lanes<decltype(word)>(access, states); });
    });
    if (lanes == 0) return;
  }
  if (grid_ != nullptr) return grid_->give_up();
  padding_.see(access, lanes, shadow);
  const std::uint32_t elements = access.elements();
  if (elements == 1) {
    access.origin = origin_of_value(access, lanes, shadow, 0, access.bytes);
  } else {
    for (std::uint32_t element = 0; element < elements; ++element) {
      const std::uint32_t at = element * access.element_bytes;
      const std::uint32_t of_element = lanes_with_undefined(access, lanes, shadow, at);
      access.of_element[element] = {of_element, ptx::kNone};
      if (of_element == 0) continue;
      access.of_element[element].origin =
          origin_of_value(access, of_element, shadow, at, access.element_bytes);
      access.origin = access.of_element[element].origin;
    }
  }
  access.undefined |= lanes;
  if (shadow.has_states()) mark_bits(access, lanes, shadow);
}

// Sets which bits of the bytes that `lanes` read are undefined, and which lanes read results of
// calculations alone.
void UnwrittenMemory::mark_bits(Access& access, std::uint32_t lanes, const MemoryShadow& shadow) {
  access.is_partial = true;
  access.of_values = {0, lanes};
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    std::array<std::uint64_t, 2> bits{};
    std::array<std::uint8_t, 16> states;
    shadow.read(access.offset[lane], access.bytes, states.data());
    bool is_calculated = true;
    for (std::uint32_t byte = 0; byte < access.bytes; ++byte) {
      if (MemoryShadow::is_defined(states[byte])) continue;
      const bool is_tainted = states[byte] == MemoryShadow::kUndefined;
      const MemoryShadow::Taint taint =
          is_tainted ? shadow.taint_at(access.offset[lane] + byte) : MemoryShadow::Taint{};
      bits[byte / 8] |= std::uint64_t{taint.bits} << (8 * (byte % 8));
      is_calculated &= taint.calculated;
    }
    if (!is_calculated) access.of_values.calculated &= ~(1u << lane);
    access.undefined_bits[0][lane] = bits[0];
    access.undefined_bits[1][lane] = bits[1];
  }
  for (UndefinedLanes& element : access.of_element) element.values = access.of_values;
}

// Returns those of `lanes` whose element at byte `at` of the access is not completely defined.
std::uint32_t UnwrittenMemory::lanes_with_undefined(const Access& access, std::uint32_t lanes,
                                                    const MemoryShadow& shadow, std::uint32_t at) {
  std::uint32_t found = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint32_t begin = access.offset[lane] + at;
    const std::uint32_t end = begin + access.element_bytes;
    found |= std::uint32_t{shadow.find_undefined(begin, end) != end} << lane;
  }
  return found;
}

// Returns the pc of the load that created the undefined value which the first of `lanes` reads at
// byte `at` of its access: this load, unless this kernel has stored the value itself.
std::uint32_t UnwrittenMemory::origin_of_value(const Access& access, std::uint32_t lanes,
                                               const MemoryShadow& shadow, std::uint32_t at,
                                               std::uint32_t bytes) {
  const std::uint32_t begin = access.offset[static_cast<unsigned>(__builtin_ctz(lanes))] + at;
  const std::uint32_t undefined = shadow.find_undefined(begin, begin + bytes);
  std::uint32_t earlier = ptx::kNone;
  if (shadow.state_at(undefined) == MemoryShadow::kUndefined) {
    earlier = shadow.taint_at(undefined).origin;
    const UndefinedOrigin& origin = origins_.at(earlier);
    if (origin.program == access.program) return origin.pc;
  }
  origins_.add_load(access, lanes, earlier);
  return access.pc;
}

void UnwrittenMemory::leave(const Access& access, MemoryShadow& shadow) {
  if (access.undefined == 0 && shadow.extent() == MemoryShadow::Extent::all) return;
  if (grid_ != nullptr && access.undefined != 0) return grid_->give_up();
  make_states(*access.allocation, shadow);
  const std::uint8_t state = state_for(access);
  shadow.with_states([&](auto& states) {
    with_word(access.bytes,
              [&](auto word) { define_lanes<decltype(word)>(access, states, state); });
  });
  if (access.undefined == 0) return;
  const std::uint32_t elements = access.elements();
  for (std::uint32_t element = 0; element < elements; ++element) {
    const std::uint32_t bytes = elements == 1 ? access.bytes : access.element_bytes;
    leave_undefined(access, access.undefined_in(element), shadow, element * bytes, bytes);
  }
}

// The lanes write an undefined value to the `bytes` bytes at byte `at` of their access.
void UnwrittenMemory::leave_undefined(const Access& access, const UndefinedLanes& value,
                                      MemoryShadow& shadow, std::uint32_t at, std::uint32_t bytes) {
  if ((value.mask & access.mask) == 0) return;
  noted_.settled = nullptr;
  const std::uint32_t lanes = value.mask & access.mask;
  const std::uint32_t origin = origins_.of_use(access.program, value.origin, access.place, lanes);
  const bool is_padding = origin != ptx::kNone && origins_.at(origin).is_load() &&
                          padding_.is_stored(access, at / bytes);
  std::uint32_t of_values = 0;  // the lanes that store more than padding
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const bool is_whole = !access.is_partial || undefined_as_a_whole(access, at, bytes, lane);
    const bool is_calculated = (value.values.calculated >> lane & 1u) != 0;
    const bool is_value = is_whole || (value.values.any() >> lane & 1u) != 0;
    const bool fills_a_part = !is_whole && (access.guessed >> lane & 1u) != 0;
    of_values |= std::uint32_t{is_value && !is_padding && !fills_a_part} << lane;
    for (std::uint32_t byte = at; byte < at + bytes; ++byte) {
      const std::uint64_t bits = is_whole ? 0xff : access.undefined_bits_at(byte, 1, lane);
      if (bits == 0) continue;
      const std::uint32_t offset = access.offset[lane] + byte;
      if (origin == ptx::kNone) {
        shadow.fill(offset, 1, MemoryShadow::kNeverWritten);
      } else {
        shadow.taint(offset, {origins_.earliest_of(origin), static_cast<std::uint8_t>(bits),
                              !is_value || is_padding, is_calculated});
      }
    }
  }
  if (of_values != 0) report_stored(access, of_values, value.origin);
}

// The new bytes in memory depend on the operands and on the old bytes; every byte depends on all of
// them.  An exchange leaves only its operand.
void UnwrittenMemory::update(Access& access, MemoryShadow& shadow) {
  if (access.undefined == 0 && shadow.extent() == MemoryShadow::Extent::all) return;
  if (access.guessed != 0) return swap_guessed(access, shadow);
  UndefinedLanes written{std::exchange(access.undefined, 0),
                         std::exchange(access.origin, ptx::kNone),
                         std::exchange(access.of_values, {})};
  const ptx::AtomOp operation = access.program->code[access.pc].modifiers.atom_op;
  const bool exchanges = operation == ptx::AtomOp::exch;
  const bool writes_partially = std::exchange(access.is_partial, false) && exchanges;
  std::array<LaneBits, 2> bits;  // of the values in transit
  if (writes_partially) bits = access.undefined_bits;
  find(access, shadow);
  if (!exchanges) {
    // What is defined stays so; the shapes of stores to shared memory are of no interest.
    const bool are_defined = (written.mask | access.undefined) == 0;
    if (are_defined && access.space == ptx::Space::shared && !writes_partially) return;
    written.mask |= access.undefined;
    if (access.undefined != 0) written.origin = access.origin;
    if (operation != ptx::AtomOp::cas) written.values = {0, ~0u};
  }
  const UndefinedLanes read{std::exchange(access.undefined, written.mask),
                            std::exchange(access.origin, written.origin),
                            std::exchange(access.of_values, written.values)};
  const bool reads_partially = std::exchange(access.is_partial, writes_partially);
  if (writes_partially) std::swap(access.undefined_bits, bits);
  leave(access, shadow);
  if (writes_partially) std::swap(access.undefined_bits, bits);
  access.undefined = read.mask;
  access.origin = read.origin;
  access.of_values = read.values;
  access.is_partial = reads_partially;
}

void UnwrittenMemory::report_stored(const Access& access, std::uint32_t lanes,
                                    std::uint32_t origin) {
  if (access.space == ptx::Space::local || origin == ptx::kNone || listener_ == nullptr) return;
  UndefinedUse use;
  use.program = access.program;
  use.place = access.place;
  use.pc = access.pc;
  use.lanes = lanes;
  use.origin = origin;
  listener_->on_stored(use, access.kind == AccessKind::atomic);
}

}  // namespace warpcheck::vgpu
