#include "vgpu/check/init/init.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "vgpu/check/checkers.hpp"
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

using Bytes [[gnu::vector_size(16)]] = std::uint64_t;

// Sets the state of all bytes of a strided row.
template <unsigned kLaneBytes>
void define_row(std::uint8_t* row, std::uint8_t state) {
  const std::uint64_t eight = state * std::uint64_t{0x0101'0101'0101'0101};
  const Bytes bytes = {eight, eight};
  for (unsigned i = 0; i < kWarpLanes * kLaneBytes; i += sizeof bytes) {
    std::memcpy(row + i, &bytes, sizeof bytes);
  }
}

// Returns whether all bytes of a strided row are defined, including those of inactive lanes.
template <unsigned kLaneBytes>
bool is_row_defined(const std::uint8_t* row) {
  constexpr std::uint64_t kEightDefined = 0x8080'8080'8080'8080;
  Bytes all = {kEightDefined, kEightDefined};
  for (unsigned i = 0; i < kWarpLanes * kLaneBytes; i += sizeof all) {
    Bytes part;
    std::memcpy(&part, row + i, sizeof part);
    all &= part;
  }
  return (all[0] & all[1]) == kEightDefined;
}

template <typename Word>
constexpr auto kAllDefined = static_cast<Word>(static_cast<Word>(~Word{0}) / 0xff * 0x80);

template <typename Word>
bool is_word_defined(const std::uint8_t* states) {
  return static_cast<Word>(load<Word>(states) & kAllDefined<Word>) == kAllDefined<Word>;
}

// Returns whether the words of all lanes are defined.
template <typename Word>
bool are_words_defined(const std::uint32_t* offsets, const std::uint8_t* states) {
  Word all = kAllDefined<Word>;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) all &= load<Word>(states + offsets[lane]);
  return all == kAllDefined<Word>;
}

// Returns the lanes that read at least one undefined byte.
template <typename Word>
std::uint32_t undefined_lanes(const Access& access, const std::uint8_t* states) {
  const auto is_undefined = [&](std::uint32_t offset) {
    return !is_word_defined<Word>(states + offset);
  };
  if (access.pattern == Pattern::uniform) {
    return is_undefined(access.offset[access.first_lane()]) ? access.mask : 0;
  }
  if (access.pattern == Pattern::strided) {
    if (is_row_defined<sizeof(Word)>(states + row_begin(access))) return 0;
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

// Sets a defined state for the bytes that the lanes of access.mask write.
template <typename Word>
void define_lanes(const Access& access, std::uint8_t* states, std::uint8_t state) {
  if (access.pattern == Pattern::uniform) {
    std::memset(states + access.offset[access.first_lane()], state, sizeof(Word));
    return;
  }
  if (access.pattern == Pattern::strided && access.mask == ~0u) {
    return define_row<sizeof(Word)>(states + access.offset[0], state);
  }
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((access.mask >> lane & 1) == 0) continue;
    std::memset(states + access.offset[lane], state, sizeof(Word));
  }
}

// Does the same for a row with some active lanes, or for a uniform row.
void define_some(const RowAccess& row, std::uint8_t* states) {
  if (row.pattern == Pattern::uniform) {
    std::memset(states + row.first, StoreShapes::state_of_alone(row.bytes), row.bytes);
    return;
  }
  const bool is_alone = (row.mask & (row.mask - 1)) == 0;
  const std::uint8_t state = is_alone ? StoreShapes::state_of_alone(row.bytes)
                                      : StoreShapes::state_of_row(row.element_bytes);
  std::uint8_t* const first = states + start_of(row.first);
  for (std::uint32_t rest = row.mask; rest != 0;) {
    const auto begin = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint32_t lanes = ~(rest >> begin);  // the inactive lanes that follow
    const auto end = lanes == 0 ? kWarpLanes : begin + static_cast<unsigned>(__builtin_ctz(lanes));
    std::memset(first + begin * row.bytes, state, std::size_t{end - begin} * row.bytes);
    rest = end < kWarpLanes ? rest >> end << end : 0;
  }
}

// Does the same for scattered lanes in local memory, which no host copies: no gap between lanes can
// be padding.
void define_lanes_of_local(const RowAccess& row, std::uint8_t* states) {
  const std::uint8_t state = StoreShapes::state_of_alone(row.element_bytes);
  with_word(row.bytes, [&](auto word) {
    for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      std::memset(states + row.offsets[lane], state, sizeof word);
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

// Returns the first byte from `begin` up to `end` that is not in the gap between the rows of
// pitched memory; `end`: there is none.
std::uint32_t skip_between_rows(const Allocation& part, std::uint32_t begin, std::uint32_t end) {
  const Allocation& allocation = part.object();
  if (allocation.pitch == 0) return begin;
  const auto column = static_cast<std::uint32_t>(part.offset_in_object(begin) % allocation.pitch);
  if (column < allocation.row_bytes) return begin;
  return std::min(begin + (allocation.pitch - column), end);
}

}  // namespace

std::unique_ptr<Checker> make_init_checker(Reporter& reporter) {
  return std::make_unique<InitChecker>(reporter);
}

void InitChecker::configure(const CheckerSet& set) {
  is_strict_ = set.strict_init;
  reporter_.set_undefined_bytes(this);
}

void InitChecker::reset(WarpModel /*model*/) {
  for (MemoryShadow& shadow : shadows_) shadow.begin(0);
  noted_ = {};
  origins_.clear();
  padding_.clear();
  shapes_.reset();
}

inline MemoryShadow& InitChecker::shadow_of(const Allocation& allocation) {
  if (whole_ != nullptr) return shadow_of_part(allocation);
  const bool is_there =
      allocation.id < shadows_.size() && shadows_[allocation.id].bytes() == allocation.bytes;
  return is_there ? shadows_[allocation.id] : begin_shadow(allocation);
}

MemoryShadow& InitChecker::begin_shadow(const Allocation& allocation) {
  if (allocation.id >= shadows_.size()) shadows_.resize(allocation.id + 1);
  shadows_[allocation.id].begin(allocation.limit());
  return shadows_[allocation.id];
}

void InitChecker::on_allocate(const Allocation& allocation) {
  shadow_of(allocation).begin(allocation.limit());
}

void InitChecker::on_hand_out(const Allocation& allocation, std::uint32_t offset,
                              std::uint32_t bytes) {
  shadow_of(allocation).fill(offset, bytes, MemoryShadow::kNeverWritten);
}

void InitChecker::on_free(const Allocation& allocation) {
  if (allocation.id < shadows_.size()) shadows_[allocation.id].release();
}

void InitChecker::on_frame_end(const FrameEnd& frame) {
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

void InitChecker::on_unknown_writes() {
  noted_ = {};
  for (MemoryShadow& shadow : shadows_) shadow.fill(0, shadow.bytes(), MemoryShadow::kDefined);
}

bool InitChecker::holds_undefined(const Allocation& allocation, std::uint32_t offset) const {
  if (allocation.id >= shadows_.size()) return false;
  const MemoryShadow& shadow = shadows_[allocation.id];
  return offset < shadow.bytes() && shadow.state_at(offset) == MemoryShadow::kUndefined &&
         !shadow.taint_at(offset).next_to_defined;
}

void InitChecker::on_sync(const Sync& sync) {
  if (sync.kind != Sync::Kind::barrier_complete) noted_ = {};
  if (sync.shared == nullptr) return;
  if (sync.kind == Sync::Kind::block_start) {
    shadow_of(*sync.shared).begin(sync.shared->limit());
  } else if (sync.kind == Sync::Kind::barrier_complete) {
    MemoryShadow& shadow = shadow_of(*sync.shared);
    shadow.settle();
    if (shadow.extent() == MemoryShadow::Extent::all) noted_.settled = sync.shared;
  }
}

void InitChecker::on_read(Access& access, MemoryShadow& shadow) {
  if (shadow.extent() == MemoryShadow::Extent::all) return;
  const bool is_row_of_words = access.pattern == Pattern::strided && access.bytes == 4;
  if (is_row_of_words && shadow.extent() == MemoryShadow::Extent::some &&
      is_row_defined<4>(shadow.states() + row_begin(access))) {
    return;  // the most frequent case
  }
  find_undefined(access, shadow);
}

void InitChecker::on_access(Access& access) {
  if (access.space == ptx::Space::param) return;  // always defined
  MemoryShadow& shadow = shadow_of(*access.allocation);
  switch (access.kind) {
    case AccessKind::read: on_read(access, shadow); break;
    case AccessKind::write: on_write(access, shadow); break;
    case AccessKind::atomic: on_update(access, shadow); break;
  }
}

// From now on, machine code uses the states itself.
inline void InitChecker::see_shared(const RowAccess& row, MemoryShadow& shadow) {
  if (row.space != ptx::Space::shared) return;
  noted_.unsettled = row.allocation;
  noted_.states = shadow.writable_states();
}

bool InitChecker::takes_row(const RowAccess& row) {
  if (row.allocation == noted_.settled) return true;
  if (row.space == ptx::Space::param) return true;
  MemoryShadow& shadow = shadow_of(*row.allocation);
  if (shadow.extent() == MemoryShadow::Extent::all) return true;
  if (row.kind == AccessKind::write) {
    if (row.pattern == Pattern::scattered) {
      if (row.space != ptx::Space::local) return false;
      define_lanes_of_local(row, writable_states(*row.allocation, shadow));
      return true;
    }
    see_shared(row, shadow);
    if (row.pattern == Pattern::uniform || row.mask != ~0u) {
      define_some(row, writable_states(*row.allocation, shadow));
      return true;
    }
    with_word(row.bytes, [&](auto word) {
      define_row<sizeof word>(writable_states(*row.allocation, shadow) + row.first,
                              StoreShapes::state_of_row(row.element_bytes));
    });
    return true;
  }
  if (shadow.extent() == MemoryShadow::Extent::none) return false;
  see_shared(row, shadow);
  const std::uint8_t* const states = shadow.states();
  bool is_defined = false;
  with_word(row.bytes, [&](auto word) {
    using Word = decltype(word);
    switch (row.pattern) {
      case Pattern::strided:
        is_defined = is_row_defined<sizeof word>(states + start_of(row.first));
        break;
      case Pattern::uniform: is_defined = is_word_defined<Word>(states + row.first); break;
      case Pattern::scattered: is_defined = are_words_defined<Word>(row.offsets, states); break;
    }
  });
  return is_defined;
}

bool InitChecker::lends_notes(std::uint32_t /*slot*/, RowNotes& notes) {
  notes.states = &noted_;
  notes.stored = StoreShapes::state_of_row(sizeof(std::uint32_t));
  return true;
}

void InitChecker::find_undefined(Access& access, MemoryShadow& shadow) {
  std::uint32_t lanes = access.mask;
  if (shadow.extent() == MemoryShadow::Extent::some) {
    with_word(access.bytes,
              [&](auto word) { lanes = undefined_lanes<decltype(word)>(access, shadow.states()); });
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
  if (shadow.extent() == MemoryShadow::Extent::some) tell_bits(access, lanes, shadow);
}

// Sets which bits of the bytes that `lanes` read are undefined, and which lanes read results of
// calculations alone.
void InitChecker::tell_bits(Access& access, std::uint32_t lanes, const MemoryShadow& shadow) {
  access.is_partial = true;
  access.of_values = {0, lanes};
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    std::array<std::uint64_t, 2> bits{};
    for (std::uint32_t byte = 0; byte < access.bytes; ++byte) {
      const std::uint32_t at = access.offset[lane] + byte;
      const std::uint64_t of_byte = shadow.undefined_bits_at(at);
      bits[byte / 8] |= of_byte << (8 * (byte % 8));
      const bool is_calculated = of_byte == 0 || (shadow.state_at(at) == MemoryShadow::kUndefined &&
                                                  shadow.taint_at(at).calculated);
      if (!is_calculated) access.of_values.calculated &= ~(1u << lane);
    }
    access.undefined_bits[0][lane] = bits[0];
    access.undefined_bits[1][lane] = bits[1];
  }
  for (UndefinedLanes& element : access.of_element) element.values = access.of_values;
}

// Returns those of `lanes` whose element at byte `at` of the access is not completely defined.
std::uint32_t InitChecker::lanes_with_undefined(const Access& access, std::uint32_t lanes,
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
std::uint32_t InitChecker::origin_of_value(const Access& access, std::uint32_t lanes,
                                           const MemoryShadow& shadow, std::uint32_t at,
                                           std::uint32_t bytes) {
  const std::uint32_t begin = access.offset[static_cast<unsigned>(__builtin_ctz(lanes))] + at;
  const std::uint32_t undefined = shadow.find_undefined(begin, begin + bytes);
  std::uint32_t earlier = ptx::kNone;
  if (shadow.state_at(undefined) == MemoryShadow::kUndefined) {
    earlier = shadow.taint_at(undefined).origin;
    const Origin& origin = origins_.at(earlier);
    if (origin.program == access.program) return origin.pc;
  }
  origins_.add_load(access, lanes, earlier);
  return access.pc;
}

void InitChecker::on_write(const Access& access, MemoryShadow& shadow) {
  if (access.undefined == 0 && shadow.extent() == MemoryShadow::Extent::all) return;
  if (grid_ != nullptr && access.undefined != 0) return grid_->give_up();
  std::uint8_t* const states = writable_states(*access.allocation, shadow);
  const std::uint8_t state = state_for(access);
  const bool is_row_of_words = access.pattern == Pattern::strided && access.bytes == 4;
  if (is_row_of_words && access.mask == ~0u && access.undefined == 0) {
    return define_row<4>(states + access.offset[0], state);  // the most frequent case
  }
  with_word(access.bytes, [&](auto word) { define_lanes<decltype(word)>(access, states, state); });
  if (access.undefined == 0) return;
  const std::uint32_t elements = access.elements();
  for (std::uint32_t element = 0; element < elements; ++element) {
    const std::uint32_t bytes = elements == 1 ? access.bytes : access.element_bytes;
    leave_undefined(access, access.undefined_in(element), shadow, element * bytes, bytes);
  }
}

// The lanes write an undefined value to the `bytes` bytes at byte `at` of their access.
void InitChecker::leave_undefined(const Access& access, const UndefinedLanes& value,
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
  if (is_strict_ && of_values != 0) report_stored(access, of_values, value.origin);
}

// The new bytes in memory depend on the operands and on the old bytes; every byte depends on all of
// them.  An exchange leaves only its operand.
void InitChecker::on_update(Access& access, MemoryShadow& shadow) {
  if (access.undefined == 0 && shadow.extent() == MemoryShadow::Extent::all) return;
  if (access.guessed != 0) return on_guessed_swap(access, shadow);
  UndefinedLanes written{std::exchange(access.undefined, 0),
                         std::exchange(access.origin, ptx::kNone),
                         std::exchange(access.of_values, {})};
  const ptx::AtomOp operation = access.program->code[access.pc].modifiers.atom_op;
  const bool exchanges = operation == ptx::AtomOp::exch;
  const bool writes_partially = std::exchange(access.is_partial, false) && exchanges;
  std::array<LaneBits, 2> bits;  // of the values in transit
  if (writes_partially) bits = access.undefined_bits;
  on_read(access, shadow);
  if (!exchanges) {
    written.mask |= access.undefined;
    if (access.undefined != 0) written.origin = access.origin;
    if (operation != ptx::AtomOp::cas) written.values = {0, ~0u};
  }
  const UndefinedLanes read{std::exchange(access.undefined, written.mask),
                            std::exchange(access.origin, written.origin),
                            std::exchange(access.of_values, written.values)};
  const bool reads_partially = std::exchange(access.is_partial, writes_partially);
  if (writes_partially) std::swap(access.undefined_bits, bits);
  on_write(access, shadow);
  if (writes_partially) std::swap(access.undefined_bits, bits);
  access.undefined = read.mask;
  access.origin = read.origin;
  access.of_values = read.values;
  access.is_partial = reads_partially;
}

void InitChecker::on_operand(OperandAccess& access) {
  MemoryShadow& shadow = shadow_of(*access.allocation);
  if (!access.write) {
    find_undefined_bits(access, shadow);
    if (is_strict_ && !access.undefined.empty()) reports_.read_by_library(access);
    return;
  }
  shadow.fill(access.offset, access.bytes, MemoryShadow::kDefined);
  if (access.undefined.empty()) return;
  const std::uint32_t origin = origins_.of_operand(*access.undefined_from);
  for (std::uint32_t i = 0; i < access.bytes; ++i) {
    if (access.undefined[i] != 0) shadow.taint(access.offset + i, {origin, access.undefined[i]});
  }
}

void InitChecker::find_undefined_bits(OperandAccess& access, const MemoryShadow& shadow) {
  const std::uint32_t end = access.offset + access.bytes;
  std::uint32_t at = shadow.find_undefined(access.offset, end);
  if (at == end) return;
  access.undefined.resize(access.bytes);
  for (; at < end; at = shadow.find_undefined(at + 1, end)) {
    const bool is_tainted = shadow.state_at(at) == MemoryShadow::kUndefined;
    access.undefined[at - access.offset] = is_tainted ? shadow.taint_at(at).bits : 0xff;
  }
}

void InitChecker::on_host_access(const HostAccess& access) {
  if (access.ahead) return;
  MemoryShadow& shadow = shadow_of(*access.allocation);
  if (access.write && whole_ != nullptr) return define_in_part(access, shadow);
  if (access.write) {
    shadow.fill(access.offset, access.bytes,
                access.undefined ? MemoryShadow::kNeverWritten : MemoryShadow::kDefined);
    return;
  }
  report_copied(access, shadow);
}

// The bytes go to the host, or, if the checker is strict, to another place in device memory.
void InitChecker::report_copied(const HostAccess& access, const MemoryShadow& shadow) {
  const std::uint32_t end = access.offset + access.bytes;
  const std::uint32_t first = shadow.find_undefined(access.offset, end);
  std::uint32_t element = ptx::kNone;  // first byte of an element that was never written
  for (std::uint32_t at = first, next = 0; at < end; at = shadow.find_undefined(next, end)) {
    next = at + 1;
    if (shadow.state_at(at) == MemoryShadow::kNeverWritten) {
      next = shadow.find_written(at, end);
      const std::uint32_t begin = skip_between_rows(*access.allocation, at, next);
      const bool is_first = element == ptx::kNone && begin != next;
      if (is_first && !shapes_.may_be_padding(shadow, begin, next, access.offset)) element = begin;
    } else if (!shadow.taint_at(at).next_to_defined) {
      reports_.copied_value(access, at, origins_.at(shadow.taint_at(at).origin));
      return;
    }
  }
  if (element != ptx::kNone) {
    reports_.copied_element(access, element, shadow.find_written(element, end) - element);
  } else if (first != end && shadow.state_at(first) == MemoryShadow::kUndefined) {
    reports_.copied_padding(access, first, origins_.at(shadow.taint_at(first).origin));
  } else if (first != end) {
    reports_.copied_bytes(access, first);
  }
}

void InitChecker::on_device_copy(const DeviceCopy& copy) {
  if (copy.ahead) return;
  if (whole_ != nullptr) return copy_in_part(copy);
  shadow_of(*copy.target);  // creates the shadow first, because references must stay valid
  const MemoryShadow& source = shadow_of(*copy.source);
  if (is_strict_) {
    HostAccess read;
    read.allocation = copy.source;
    read.offset = copy.source_offset;
    read.bytes = copy.bytes;
    read.call = copy.call;
    report_copied(read, source);
  }
  shadow_of(*copy.target).copy(copy.target_offset, source, copy.source_offset, copy.bytes);
}

}  // namespace warpcheck::vgpu
