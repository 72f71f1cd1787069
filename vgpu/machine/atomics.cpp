// Atomic read-modify-write (PTX ISA 9.7.13.5 atom, 9.7.13.7 red): lane after lane.
#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/machine/core.hpp"
#include "vgpu/machine/link.hpp"

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
};

template <class T>
T canonical(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return value != value ? std::bit_cast<float>(0x7fffffffu) : value;
  } else {
    return value;
  }
}

template <AtomOp op, class T>
T combine(T old, T b, T c) {
  using Unsigned = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if constexpr (op == AtomOp::add) {
    if constexpr (std::is_floating_point_v<T>) {
      return canonical<T>(old + b);
    } else {
      return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(b));
    }
  } else if constexpr (op == AtomOp::min) {
    return std::min(old, b);
  } else if constexpr (op == AtomOp::max) {
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

template <AtomOp op, class T>
void run_atomic(const AtomicRows& rows) {
  for (std::uint32_t rest = rows.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    T old{}, b{}, c{};
    std::byte* place = rows.data + rows.offsets[lane];
    std::memcpy(&old, place, sizeof(T));
    std::memcpy(&b, rows.b + lane * sizeof(T), sizeof(T));
    if constexpr (op == AtomOp::cas) std::memcpy(&c, rows.c + lane * sizeof(T), sizeof(T));
    const T result = combine<op, T>(old, b, c);
    std::memcpy(place, &result, sizeof(T));
    if (rows.old_values != nullptr) {
      std::memcpy(rows.old_values + lane * (rows.old_wide ? 8u : 4u), &old, sizeof(T));
    }
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

AtomicFn find_function(const ptx::Modifiers& modifiers) {
  const AtomOp op = modifiers.atom_op;
  switch (modifiers.type) {
    case Type::b32:
    case Type::u32: return find_integer<std::uint32_t>(op);
    case Type::b64:
    case Type::u64: return find_integer<std::uint64_t>(op);
    case Type::s32: return find_integer<std::int32_t>(op);
    case Type::s64: return find_integer<std::int64_t>(op);
    case Type::f32: return op == AtomOp::add ? run_atomic<AtomOp::add, float> : nullptr;
    case Type::f64: return op == AtomOp::add ? run_atomic<AtomOp::add, double> : nullptr;
    default: return nullptr;
  }
}

}  // namespace

bool atomic_is_supported(const ptx::Modifiers& modifiers) {
  return find_function(modifiers) != nullptr;
}

// Lanes run one after the other: what an earlier one swapped in is what a later one finds.
std::uint32_t Core::lanes_that_compare_unequal(const Running& run, const Instr& instr,
                                               std::uint32_t mask) const {
  const std::size_t bytes = ptx::bytes_of(instr.modifiers.type);
  const auto value_of = [&](const Ref& ref, unsigned lane) {
    return run.banks.base[static_cast<std::size_t>(ref.bank)] + ref.offset +
           lane * (bytes == 8 ? 8u : 4u);
  };
  std::uint32_t unequal = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t offset = access_.offset[lane];
    const std::byte* found = access_.allocation->data + offset;
    const std::uint32_t swapped = mask & ~unequal & ((1u << lane) - 1);
    for (std::uint32_t before = swapped; before != 0; before &= before - 1) {
      const auto other = static_cast<unsigned>(std::countr_zero(before));
      if (access_.offset[other] == offset) found = value_of(instr.refs[3], other);
    }
    if (std::memcmp(found, value_of(instr.refs[2], lane), bytes) != 0) unequal |= 1u << lane;
  }
  return unequal;
}

void Core::perform_atomic(Running& run, const Instr& instr, std::uint32_t mask) {
  const auto row = [&](const Ref& ref) {
    return ref.bank == Bank::none ? nullptr
                                  : run.banks.base[static_cast<std::size_t>(ref.bank)] + ref.offset;
  };
  const Ref& destination = instr.refs[1];
  const AtomicRows rows{
      access_.allocation->data, access_.offset.data(),          mask,
      row(destination),         destination.bank == Bank::wide, row(instr.refs[2]),
      row(instr.refs[3])};
  find_function(instr.modifiers)(rows);
  if (access_.undefined != 0 || run.warp.undefined.any()) {
    run.warp.undefined.set(run.frame, destination, {access_.undefined, access_.origin}, mask,
                           *program_);
  }
}

}  // namespace warpcheck::vgpu
