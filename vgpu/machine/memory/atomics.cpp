#include "vgpu/machine/memory/atomics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "vgpu/machine/block_share.hpp"
#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/link.hpp"
#include "vgpu/machine/memory/process_lock.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::AtomOp;
using ptx::Type;

struct AtomicRows {
  std::byte* data;
  const std::uint32_t* offsets;
  std::uint32_t mask;
  std::byte* old_values;  // may be null
  bool old_wide;
  const std::byte* b;
  const std::byte* c;
  bool strided;  // lanes are adjacent in memory
};

template <class T>
T canonical(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return value != value ? std::bit_cast<float>(0x7fffffffu) : value;
  } else {
    return value;
  }
}

// An f32 in global memory: subnormal operands and results are flushed to zero (9.7.13.5).
struct Flushed {
  float value;
};

Flushed sum(Flushed a, Flushed b) {
  const auto flush = [](float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return (bits & 0x7f800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : x;
  };
  return {flush(canonical(flush(a.value) + flush(b.value)))};
}

// An f64.  In global memory, the addend's NaN takes precedence, and NaNs keep their bits.  In other
// memory, the NaN in memory takes precedence and becomes quiet (seen on sm_90).
template <bool kGlobal>
struct Double {
  double value;

  friend Double sum(Double old, Double b) {
    const Double& preferred = kGlobal ? b : old;
    const Double& other = kGlobal ? old : b;
    if (preferred.value != preferred.value) return preferred.as_result();
    if (other.value != other.value) return other.as_result();
    const double result = old.value + b.value;
    return {result != result ? std::bit_cast<double>(exact::kF64.nan) : result};
  }
  [[nodiscard]] Double as_result() const {
    constexpr std::uint64_t kQuiet = kGlobal ? 0 : exact::kF64.hidden() >> 1;
    return {std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | kQuiet)};
  }
};

// A 16-bit float; subnormals are not flushed.
template <const exact::Format& kFormat>
struct Half {
  std::uint16_t bits;

  [[nodiscard]] bool is_nan() const { return (bits & 0x7fff) > kFormat.infinity(); }
  // Returns a rank that ascends with the number; -0 is before +0.
  [[nodiscard]] int rank() const {
    const int magnitude = bits & 0x7fff;
    return (bits & 0x8000) != 0 ? -magnitude - 1 : magnitude;
  }
  friend Half sum(Half a, Half b) {
    constexpr ptx::Rounding kNearest = ptx::Rounding::rn;
    const exact::Number x = exact::unpack(kFormat, a.bits);
    const exact::Number y = exact::unpack(kFormat, b.bits);
    return {static_cast<std::uint16_t>(exact::pack(kFormat, exact::add(x, y, kNearest), kNearest))};
  }
  friend Half lesser(Half a, Half b, bool greater) {
    if (a.is_nan() && b.is_nan()) return {static_cast<std::uint16_t>(kFormat.nan)};
    if (a.is_nan() || b.is_nan()) return a.is_nan() ? b : a;
    return (a.rank() < b.rank()) != greater ? a : b;
  }
};
using HalfFloat = Half<exact::kF16>;
using BrainFloat = Half<exact::kBf16>;

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, HalfFloat> || std::is_same_v<T, BrainFloat>;

template <AtomOp op, class T>
T combine(T old, T b, T c) {
  using Unsigned = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if constexpr (op == AtomOp::add) {
    if constexpr (std::is_floating_point_v<T>) {
      return canonical<T>(old + b);
    } else if constexpr (std::is_class_v<T>) {
      return sum(old, b);
    } else {
      return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(b));
    }
  } else if constexpr (op == AtomOp::min) {
    if constexpr (kIsHalf<T>)
      return lesser(old, b, false);
    else
      return std::min(old, b);
  } else if constexpr (op == AtomOp::max) {
    if constexpr (kIsHalf<T>)
      return lesser(old, b, true);
    else
      return std::max(old, b);
  } else if constexpr (op == AtomOp::and_) {
    return old & b;
  } else if constexpr (op == AtomOp::or_) {
    return old | b;
  } else if constexpr (op == AtomOp::xor_) {
    return old ^ b;
  } else if constexpr (op == AtomOp::exch) {
    return b;
  } else if constexpr (op == AtomOp::cas) {
    return old == b ? c : old;
  } else if constexpr (op == AtomOp::inc) {
    return old >= b ? 0 : old + 1;
  } else {
    static_assert(op == AtomOp::dec);
    return old == 0 || old > b ? b : old - 1;
  }
}

//   with_old: the instruction has a destination for the old value
template <AtomOp op, class T>
[[gnu::always_inline]] inline void run_lane(const AtomicRows& rows, std::size_t lane,
                                            bool with_old) {
  constexpr std::size_t kCell = std::max<std::size_t>(sizeof(T), 4);
  T old{}, b{}, c{};
  std::byte* const place = rows.data + rows.offsets[lane];
  std::memcpy(&old, place, sizeof(T));
  std::memcpy(&b, rows.b + lane * kCell, sizeof(T));
  if constexpr (op == AtomOp::cas) std::memcpy(&c, rows.c + lane * kCell, sizeof(T));
  const T result = combine<op, T>(old, b, c);
  std::memcpy(place, &result, sizeof(T));
  if (with_old) {
    std::memcpy(rows.old_values + lane * (rows.old_wide ? 8u : 4u), &old, sizeof(T));
  }
}

// All lanes have separate, adjacent words.
template <AtomOp op, class T>
void run_row(const AtomicRows& rows) {
  std::array<T, kWarpLanes> old, b, result;
  std::byte* const place = rows.data + rows.offsets[0];
  std::memcpy(old.data(), place, sizeof old);
  std::memcpy(b.data(), rows.b, sizeof b);
  for (std::size_t lane = 0; lane < kWarpLanes; ++lane) {
    result[lane] = combine<op, T>(old[lane], b[lane], T{});
  }
  std::memcpy(place, result.data(), sizeof result);
  if (rows.old_values != nullptr) std::memcpy(rows.old_values, old.data(), sizeof old);
}

template <AtomOp op, class T>
void run_atomic(const AtomicRows& given) {
  const AtomicRows rows = given;  // a copy, which no store can alias
  if constexpr (sizeof(T) == 4 && op != AtomOp::cas) {
    if (rows.strided && rows.mask == ~0u && !rows.old_wide) return run_row<op, T>(rows);
  }
  if (rows.mask == ~0u && (rows.old_values == nullptr || !rows.old_wide)) {
    if (rows.old_values == nullptr) {
      for (std::size_t lane = 0; lane < kWarpLanes; ++lane) run_lane<op, T>(rows, lane, false);
    } else {
      for (std::size_t lane = 0; lane < kWarpLanes; ++lane) run_lane<op, T>(rows, lane, true);
    }
    return;
  }
  for (std::uint32_t rest = rows.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    run_lane<op, T>(rows, lane, rows.old_values != nullptr);
  }
}

using Quad = unsigned __int128;

// Returns one lane's value from two adjacent wide rows.
Quad read_quad(const std::byte* row, std::size_t lane) {
  std::uint64_t low = 0, high = 0;
  std::memcpy(&low, row + lane * sizeof low, sizeof low);
  std::memcpy(&high, row + kWideRowBytes + lane * sizeof high, sizeof high);
  return Quad{high} << 64 | low;
}

template <AtomOp op>
void run_quad(const AtomicRows& rows) {
  for (std::uint32_t rest = rows.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    std::byte* const place = rows.data + rows.offsets[lane];
    Quad old = 0;
    std::memcpy(&old, place, sizeof old);
    Quad result = read_quad(rows.b, lane);
    if constexpr (op == AtomOp::cas) result = old == result ? read_quad(rows.c, lane) : old;
    std::memcpy(place, &result, sizeof result);
    if (rows.old_values == nullptr) continue;
    const auto low = static_cast<std::uint64_t>(old), high = static_cast<std::uint64_t>(old >> 64);
    std::memcpy(rows.old_values + lane * sizeof low, &low, sizeof low);
    std::memcpy(rows.old_values + kWideRowBytes + lane * sizeof high, &high, sizeof high);
  }
}

using AtomicFn = void (*)(const AtomicRows&);

template <class T>
AtomicFn find_integer(AtomOp op) {
  switch (op) {
    case AtomOp::add: return run_atomic<AtomOp::add, T>;
    case AtomOp::min: return run_atomic<AtomOp::min, T>;
    case AtomOp::max: return run_atomic<AtomOp::max, T>;
    case AtomOp::and_: return run_atomic<AtomOp::and_, T>;
    case AtomOp::or_: return run_atomic<AtomOp::or_, T>;
    case AtomOp::xor_: return run_atomic<AtomOp::xor_, T>;
    case AtomOp::exch: return run_atomic<AtomOp::exch, T>;
    case AtomOp::cas: return run_atomic<AtomOp::cas, T>;
    case AtomOp::inc: return run_atomic<AtomOp::inc, T>;
    case AtomOp::dec: return run_atomic<AtomOp::dec, T>;
    default: return nullptr;
  }
}

// Returns the function for atom.add, and for min and max on elements of a vector.
template <class T>
AtomicFn find_half(const ptx::Modifiers& m, bool in_vector) {
  switch (m.atom_op) {
    case AtomOp::add: return run_atomic<AtomOp::add, T>;
    case AtomOp::min: return in_vector ? run_atomic<AtomOp::min, T> : nullptr;
    case AtomOp::max: return in_vector ? run_atomic<AtomOp::max, T> : nullptr;
    default: return nullptr;
  }
}

AtomicFn find_function(const ptx::Modifiers& modifiers, bool in_global, bool in_vector) {
  const AtomOp op = modifiers.atom_op;
  switch (modifiers.type) {
    case Type::b32:
    case Type::u32: return find_integer<std::uint32_t>(op);
    case Type::b64:
    case Type::u64: return find_integer<std::uint64_t>(op);
    case Type::s32: return find_integer<std::int32_t>(op);
    case Type::s64: return find_integer<std::int64_t>(op);
    case Type::f32:
      if (op != AtomOp::add) return nullptr;
      return in_global ? run_atomic<AtomOp::add, Flushed> : run_atomic<AtomOp::add, float>;
    case Type::f64:
      if (op != AtomOp::add) return nullptr;
      return in_global ? run_atomic<AtomOp::add, Double<true>>
                       : run_atomic<AtomOp::add, Double<false>>;
    case Type::f16: return find_half<HalfFloat>(modifiers, in_vector);
    case Type::bf16: return find_half<BrainFloat>(modifiers, in_vector);
    case Type::b16: return op == AtomOp::cas ? run_atomic<AtomOp::cas, std::uint16_t> : nullptr;
    case Type::b128:
      if (op == AtomOp::cas) return run_quad<AtomOp::cas>;
      return op == AtomOp::exch ? run_quad<AtomOp::exch> : nullptr;
    default: return nullptr;
  }
}

// Returns whether all active lanes are in one page.
bool are_in_one_page(const AtomicRows& rows) {
  const std::uint32_t first = rows.offsets[std::countr_zero(rows.mask)];
  std::uint32_t differing = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint32_t is_active = 0u - (rows.mask >> lane & 1);
    differing |= (rows.offsets[lane] ^ first) & is_active;
  }
  return differing < ReductionPages::kPageBytes;
}

// Executes the atomic in pages that take the place of those of global memory.
void run_in_pages(AtomicFn function, const AtomicRows& rows, const Access& access,
                  ReductionPages& pages) {
  constexpr std::uint32_t kBytes = ReductionPages::kPageBytes;
  std::array<std::uint32_t, kWarpLanes> in_page;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) in_page[lane] = rows.offsets[lane] % kBytes;
  if (are_in_one_page(rows)) {
    AtomicRows all = rows;
    const std::uint32_t page = rows.offsets[std::countr_zero(rows.mask)] / kBytes;
    all.data = pages.page_of(*access.allocation, page, access.pc);
    all.offsets = in_page.data();
    if (all.data != nullptr) function(all);
    return;
  }
  for (std::uint32_t rest = rows.mask; rest != 0;) {
    const std::uint32_t page = rows.offsets[std::countr_zero(rest)] / kBytes;
    AtomicRows part = rows;
    part.strided = false;  // of some lanes only
    part.mask = 0;
    for (std::uint32_t lanes = rest; lanes != 0; lanes &= lanes - 1) {
      const bool is_there = rows.offsets[std::countr_zero(lanes)] / kBytes == page;
      if (is_there) part.mask |= lanes & -lanes;
    }
    rest &= ~part.mask;
    part.data = pages.page_of(*access.allocation, page, access.pc);
    if (part.data == nullptr) return;
    part.offsets = in_page.data();
    function(part);
  }
}

// Stores `wanted` if the location still contains `found`; otherwise sets `found` to its content.
template <class T>
bool exchange(std::byte* place, Quad& found, Quad wanted) {
  auto expected = static_cast<T>(found);
  const bool is_done =
      std::atomic_ref<T>(*reinterpret_cast<T*>(place))
          .compare_exchange_strong(expected, static_cast<T>(wanted), std::memory_order_seq_cst);
  found = expected;
  return is_done;
}

// std::atomic_ref has no lock-free form for 16 bytes.
[[gnu::target("cx16")]] bool exchange_quad(std::byte* place, Quad& found, Quad wanted) {
  const Quad before = __sync_val_compare_and_swap(reinterpret_cast<Quad*>(place), found, wanted);
  const bool is_done = before == found;
  found = before;
  return is_done;
}

bool exchange(std::byte* place, std::uint32_t bytes, Quad& found, Quad wanted) {
  switch (bytes) {
    case 2: return exchange<std::uint16_t>(place, found, wanted);
    case 4: return exchange<std::uint32_t>(place, found, wanted);
    case 8: return exchange<std::uint64_t>(place, found, wanted);
    default: return exchange_quad(place, found, wanted);
  }
}

// Executes the atomic in memory that host threads change concurrently, so it must be atomic for
// them too.  Each lane computes on a copy of the location, and then stores the copy if the location
// is unchanged.
void run_atomically_with_host(AtomicFn function, const AtomicRows& rows, std::uint32_t bytes) {
  constexpr std::array<std::uint32_t, kWarpLanes> kAtBegin{};
  Quad copy = 0;
  AtomicRows one = rows;
  one.data = reinterpret_cast<std::byte*>(&copy);
  one.offsets = kAtBegin.data();
  one.strided = false;
  for (std::uint32_t rest = rows.mask; rest != 0; rest &= rest - 1) {
    std::byte* const place = rows.data + rows.offsets[std::countr_zero(rest)];
    one.mask = rest & -rest;
    Quad found = 0;
    std::memcpy(&found, place, bytes);
    do {
      copy = found;
      function(one);
    } while (!exchange(place, bytes, found, copy));
  }
}

LaneBits lane_values(const RunningFragment& run, const Ref& ref, std::uint32_t bytes) {
  LaneBits values{};
  if (ref.bank == Bank::none) return values;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    std::memcpy(&values[lane], row_of(run.banks, ref) + lane * (ref.bank == Bank::wide ? 8u : 4u),
                bytes);
  }
  return values;
}

Type element_of(Type type) {
  if (type == Type::f16x2) return Type::f16;
  return type == Type::bf16x2 ? Type::bf16 : type;
}

}  // namespace

bool atomic_is_supported(const ptx::Modifiers& modifiers) {
  ptx::Modifiers element = modifiers;
  element.type = element_of(modifiers.type);
  // Bulk copies have the operations of vectors (PTX ISA 9.0, 9.7.9.25.4.2).
  return find_function(element, false, modifiers.vector != 1 || modifiers.bulk) != nullptr;
}

// Lanes run one after the other, so a later lane finds what an earlier lane has swapped in.
std::uint32_t lanes_that_compare_unequal(const RunningFragment& run, const Instr& instr,
                                         const Access& access, std::uint32_t mask) {
  const std::size_t bytes = ptx::bytes_of(instr.modifiers.type);
  const auto value_of = [&](const Ref& ref, unsigned lane) {
    const std::byte* const row = row_of(run.banks, ref);
    Quad value = 0;
    if (bytes == sizeof value) return read_quad(row, lane);
    std::memcpy(&value, row + lane * (bytes == 8 ? 8u : 4u), bytes);
    return value;
  };
  std::uint32_t unequal = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t offset = access.offset[lane];
    Quad found = 0;
    std::memcpy(&found, access.allocation->data + offset, bytes);
    const std::uint32_t swapped = mask & ~unequal & ((1u << lane) - 1);
    for (std::uint32_t before = swapped; before != 0; before &= before - 1) {
      const auto other = static_cast<unsigned>(std::countr_zero(before));
      if (access.offset[other] == offset) found = value_of(instr[AtomicOperand::swap], other);
    }
    if (found != value_of(instr[AtomicOperand::value], lane)) unequal |= 1u << lane;
  }
  return unequal;
}

namespace {

AtomicRows rows_of(const RunningFragment& run, const Instr& instr, std::byte* data,
                   const std::uint32_t* offsets, std::uint32_t mask, bool strided) {
  const auto row = [&](const Ref& ref) {
    return ref.bank == Bank::none ? nullptr : row_of(run.banks, ref);
  };
  const Ref& destination = instr[AtomicOperand::old];
  return {data,
          offsets,
          mask,
          row(destination),
          destination.bank == Bank::wide,
          row(instr[AtomicOperand::value]),
          row(instr[AtomicOperand::swap]),
          strided};
}

}  // namespace

// Returns the guesses that a compare-and-swap is about to check.
UndefinedRegisters::Swap Atomics::guesses_of(const RunningFragment& run, const Instr& instr) const {
  const Ref& expected = instr[AtomicOperand::value];
  UndefinedRegisters::Swap swap;
  swap.lanes = current_.access.guessed;
  swap.bytes = ptx::bytes_of(instr.modifiers.type);
  swap.expected = lane_values(run, expected, swap.bytes);
  swap.expected_origin = run.warp.undefined.get(run.frame, expected).origin;
  return swap;
}

void Atomics::calculate(const RunningFragment& run, const Instr& instr, std::byte* cells,
                        const std::uint32_t* offsets, std::uint32_t mask) {
  find_function(instr.modifiers, false, true)(rows_of(run, instr, cells, offsets, mask, false));
}

void Atomics::perform(RunningFragment& run, const Instr& instr, std::uint32_t mask, bool strided) {
  const Ref& destination = instr[AtomicOperand::old];
  const AtomicRows rows = rows_of(run, instr, current_.access.allocation->data,
                                  current_.access.offset.data(), mask, strided);
  UndefinedRegisters::Swap guesses;
  const bool is_watched = run.warp.undefined.any() && current_.is_watched();
  if (is_watched && current_.access.guessed != 0) [[unlikely]]
    guesses = guesses_of(run, instr);
  const bool is_global = current_.access.allocation->space == ptx::Space::global;
  const AtomicFn function = find_function(instr.modifiers, is_global, true);
  if (ProcessLock* const shared_by = current_.access.allocation->shared_by) {
    const std::lock_guard lock(*shared_by);
    function(rows);
  } else if (BlockShare* const share = launch_.request().share; share != nullptr && is_global) {
    run_in_pages(function, rows, current_.access, share->reductions());
  } else if (current_.access.allocation->is_mapped()) {
    run_atomically_with_host(function, rows, ptx::bytes_of(instr.modifiers.type));
  } else {
    function(rows);
  }
  if (guesses.lanes != 0) [[unlikely]] {
    guesses.found = lane_values(run, destination, guesses.bytes);
    run.warp.undefined.note_swap(guesses);
    current_.access.guessed = 0;
  }
  const AtomOp op = instr.modifiers.atom_op;
  if (op == AtomOp::cas || op == AtomOp::exch)
    strong_writes_.note_swaps(run, instr, current_.access, mask);
  if (current_.access.undefined != 0 || run.warp.undefined.any()) {
    current_.give_undefined(run, instr, destination, 0, mask);
    if (instr.modifiers.type == Type::b128) {
      current_.give_undefined(run, instr, row_after(destination, 1), 1, mask);
    }
  }
}

// Executes the elements of a vector and both halves of a packed type, each as an atomic by itself.
void Atomics::perform_elements(RunningFragment& run, const Instr& instr, const Target& target,
                               std::uint32_t mask) {
  const std::array<std::uint32_t, kWarpLanes> lane_offset = current_.access.offset;
  Instr element = instr;
  element.modifiers.type = element_of(instr.modifiers.type);
  element.modifiers.vector = 1;
  const std::uint32_t bytes = ptx::bytes_of(element.modifiers.type);
  const std::uint32_t parts = ptx::bytes_of(instr.modifiers.type) / bytes;  // per register
  for (std::uint32_t index = 0; index < parts * instr.modifiers.vector; ++index) {
    const std::uint32_t part = index % parts;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      current_.access.offset[lane] = lane_offset[lane] + index * bytes;
    }
    for (const AtomicOperand operand : {AtomicOperand::old, AtomicOperand::value}) {
      element[operand] = row_after(instr[operand], index / parts);
      element[operand].offset += part * bytes;
    }
    const Ref& destination = element[AtomicOperand::old];
    const UndefinedLanes first = run.warp.undefined.get(run.frame, destination);
    current_.access.allocation = target.allocation;
    current_.access.undefined = 0;
    if (current_.is_watched()) {
      current_.describe(run, element, *target.allocation, target.space, Pattern::scattered, bytes,
                        mask, {0, 1});
      current_.report();
    }
    perform(run, element, mask, false);
    if (parts == 1 || !run.warp.undefined.any()) continue;
    UndefinedLanes both = run.warp.undefined.get(run.frame, destination);
    if ((both.mask & mask) == 0) both.origin = first.origin;
    if (part != 0) both.mask |= first.mask & mask;
    run.warp.undefined.set(run.frame, destination, both, mask, launch_.program());
  }
  current_.access.offset = lane_offset;
}

}  // namespace warpcheck::vgpu
