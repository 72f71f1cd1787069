// The warp instructions of warp_ops.hpp, compiled once per instruction set.
//
// PTX ISA 9.0, 9.7.9.6 (shfl.sync), 9.7.13 (vote, match, activemask, redux, elect).
#include "vgpu/machine/warp/warp_ops.hpp"

#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

using ptx::AtomOp;
using ptx::Opcode;
using ptx::ShuffleMode;
using ptx::Type;
using ptx::VoteMode;
using Word = std::uint32_t;

constexpr Word kSign = 0x80000000;

// Computes values[l] = a[source[l]].
WARPCHECK_INLINE void gather(const Word* a, const Word* source, Word* values) {
#if defined(__AVX512F__)
  const __m512i low = _mm512_loadu_si512(a);
  const __m512i high = _mm512_loadu_si512(a + 16);
  for (unsigned first = 0; first < kWarpLanes; first += 16) {
    const __m512i from = _mm512_load_si512(source + first);
    _mm512_store_si512(values + first, _mm512_permutex2var_epi32(low, from, high));
  }
#elif defined(__AVX2__)
  for (unsigned first = 0; first < kWarpLanes; first += 8) {
    const __m256i from = _mm256_load_si256(reinterpret_cast<const __m256i*>(source + first));
    const __m256i block = _mm256_srli_epi32(from, 3);
    __m256i result = _mm256_setzero_si256();
    for (int part = 0; part < 4; ++part) {
      const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a) + part);
      const __m256i chosen = _mm256_cmpeq_epi32(block, _mm256_set1_epi32(part));
      result = _mm256_or_si256(result,
                               _mm256_and_si256(chosen, _mm256_permutevar8x32_epi32(eight, from)));
    }
    _mm256_store_si256(reinterpret_cast<__m256i*>(values + first), result);
  }
#else
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) values[lane] = a[source[lane]];
#endif
}

template <ShuffleMode kMode>
void shfl(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  const Word* b = row<Word>(banks, instr[WarpOperand::lane]);
  const Word* c = row<Word>(banks, instr[WarpOperand::clamp]);
  alignas(64) Word source[kWarpLanes];
  alignas(64) Word in_range[kWarpLanes];
  WARPCHECK_EACH_LANE(lane) {
    const auto self = static_cast<std::int32_t>(lane);
    const auto offset = static_cast<std::int32_t>(b[lane] & 31);
    const auto clamp = static_cast<std::int32_t>(c[lane] & 31);
    const auto segment = static_cast<std::int32_t>(c[lane] >> 8 & 31);
    const std::int32_t lowest = self & segment;
    const std::int32_t limit = lowest | (clamp & ~segment);
    std::int32_t from = lowest | (offset & ~segment);
    if constexpr (kMode == ShuffleMode::up) from = self - offset;
    if constexpr (kMode == ShuffleMode::down) from = self + offset;
    if constexpr (kMode == ShuffleMode::bfly) from = self ^ offset;
    const bool valid = kMode == ShuffleMode::up ? from >= limit : from <= limit;
    source[lane] = static_cast<Word>(valid ? from : self) & 31;
    in_range[lane] = valid ? 0xffffffffu : 0;
  }
  alignas(64) Word values[kWarpLanes];
  gather(row<Word>(banks, instr[WarpOperand::value]), source, values);
  const Word valid = mask_of(in_range);
  if (present(instr[WarpOperand::result]))
    blend<Word>(row<Word>(banks, instr[WarpOperand::result]), values, active);
  write_predicate(banks, instr[WarpOperand::predicate], valid, active);
}

// Writes the same word to every active lane.
void write_uniform(const LaneBanks& banks, const Instr& instr, Word value, std::uint32_t active) {
  alignas(64) Word values[kWarpLanes];
  WARPCHECK_EACH_LANE(lane) { values[lane] = value; }
  if (present(instr[WarpOperand::result]))
    blend<Word>(row<Word>(banks, instr[WarpOperand::result]), values, active);
}

template <VoteMode kMode>
void vote(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  const Word votes = predicate(banks, instr[WarpOperand::value]) & active;
  if constexpr (kMode == VoteMode::ballot) {
    write_uniform(banks, instr, votes, active);
  } else {
    const bool all = votes == active;
    const bool any = votes != 0;
    const bool result = kMode == VoteMode::all ? all : kMode == VoteMode::any ? any : all || !any;
    write_predicate(banks, instr[WarpOperand::result], result ? 0xffffffffu : 0, active);
  }
}

void activemask(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  write_uniform(banks, instr, active, active);
}

// The lowest lane is the leader.
void elect(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  const auto leader = static_cast<Word>(__builtin_ctz(active));
  write_uniform(banks, instr, leader, active);
  write_predicate(banks, instr[WarpOperand::predicate], Word{1} << leader, active);
}

// Gives each lane the mask of the lanes that have the same value.
template <class T>
void match_any(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  const Bits<T>* a = row<T>(banks, instr[WarpOperand::value]);
  alignas(64) Word values[kWarpLanes] = {};
  for (Word left = active; left != 0;) {
    const auto leader = static_cast<unsigned>(__builtin_ctz(left));
    const T value = a[leader];
    Word same = 0;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) same |= Word{a[lane] == value} << lane;
    same &= active;
    for (Word rest = same; rest != 0; rest &= rest - 1) values[__builtin_ctz(rest)] = same;
    left &= ~same;
  }
  blend<Word>(row<Word>(banks, instr[WarpOperand::result]), values, active);
}

template <class T>
void match_all(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  const Bits<T>* a = row<T>(banks, instr[WarpOperand::value]);
  const T value = a[__builtin_ctz(active)];
  bool all = true;
  for (Word rest = active; rest != 0; rest &= rest - 1) all &= a[__builtin_ctz(rest)] == value;
  write_uniform(banks, instr, all ? active : 0, active);
  write_predicate(banks, instr[WarpOperand::predicate], all ? 0xffffffffu : 0, active);
}

template <AtomOp kOp, class T>
void redux(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  const Word* a = row<Word>(banks, instr[WarpOperand::value]);
  auto result = static_cast<T>(a[__builtin_ctz(active)]);
  for (Word rest = active & (active - 1); rest != 0; rest &= rest - 1) {
    const auto x = static_cast<T>(a[__builtin_ctz(rest)]);
    if constexpr (kOp == AtomOp::add) result = static_cast<T>(Word(result) + Word(x));
    if constexpr (kOp == AtomOp::min) result = x < result ? x : result;
    if constexpr (kOp == AtomOp::max) result = x > result ? x : result;
    if constexpr (kOp == AtomOp::and_) result &= x;
    if constexpr (kOp == AtomOp::or_) result |= x;
    if constexpr (kOp == AtomOp::xor_) result ^= x;
  }
  write_uniform(banks, instr, static_cast<Word>(result), active);
}

// Numbers in the order of min and max, in which -0 comes before +0.
Word ordered(Word bits) { return (bits & kSign) != 0 ? ~bits : bits | kSign; }

template <AtomOp kOp>
void redux_of_floats(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  constexpr Word kInfinity = 0x7f800000, kCanonicalNan = 0x7fffffff;
  const Word* a = row<Word>(banks, instr[WarpOperand::value]);
  bool is_any = false, is_nan = false;
  Word best = 0;
  for (Word rest = active; rest != 0; rest &= rest - 1) {
    const Word bits = a[__builtin_ctz(rest)] & ~(instr.modifiers.absolute ? kSign : 0);
    if ((bits & ~kSign) > kInfinity) {
      is_nan = true;
      continue;
    }
    const Word x = ordered(bits);
    if (!is_any || (kOp == AtomOp::min ? x < best : x > best)) best = x;
    is_any = true;
  }
  const bool is_result_nan = !is_any || (is_nan && instr.modifiers.nan);
  const Word result = (best & kSign) != 0 ? best & ~kSign : ~best;
  write_uniform(banks, instr, is_result_nan ? kCanonicalNan : result, active);
}

WarpFn find_shfl(const ptx::Modifiers& m) {
  if (m.type != Type::b32) return nullptr;
  switch (m.shuffle) {
    case ShuffleMode::up: return shfl<ShuffleMode::up>;
    case ShuffleMode::down: return shfl<ShuffleMode::down>;
    case ShuffleMode::bfly: return shfl<ShuffleMode::bfly>;
    case ShuffleMode::idx: return shfl<ShuffleMode::idx>;
    case ShuffleMode::none: return nullptr;
  }
  return nullptr;
}

WarpFn find_vote(VoteMode mode) {
  switch (mode) {
    case VoteMode::all: return vote<VoteMode::all>;
    case VoteMode::any: return vote<VoteMode::any>;
    case VoteMode::uni: return vote<VoteMode::uni>;
    case VoteMode::ballot: return vote<VoteMode::ballot>;
    case VoteMode::none: return nullptr;
  }
  return nullptr;
}

WarpFn find_match(const ptx::Modifiers& m) {
  const bool wide = m.type == Type::b64;
  if (!wide && m.type != Type::b32) return nullptr;
  switch (m.vote) {
    case VoteMode::all: return wide ? match_all<std::uint64_t> : match_all<Word>;
    case VoteMode::any: return wide ? match_any<std::uint64_t> : match_any<Word>;
    default: return nullptr;
  }
}

WarpFn find_redux(const ptx::Modifiers& m) {
  const bool is_signed = m.type == Type::s32;
  if (m.type == Type::b32) {
    switch (m.atom_op) {
      case AtomOp::and_: return redux<AtomOp::and_, Word>;
      case AtomOp::or_: return redux<AtomOp::or_, Word>;
      case AtomOp::xor_: return redux<AtomOp::xor_, Word>;
      default: return nullptr;
    }
  }
  if (m.type == Type::f32) {
    if (m.atom_op == AtomOp::min) return redux_of_floats<AtomOp::min>;
    return m.atom_op == AtomOp::max ? redux_of_floats<AtomOp::max> : nullptr;
  }
  if (!is_signed && m.type != Type::u32) return nullptr;
  switch (m.atom_op) {
    case AtomOp::add: return redux<AtomOp::add, Word>;
    case AtomOp::min:
      return is_signed ? redux<AtomOp::min, std::int32_t> : redux<AtomOp::min, Word>;
    case AtomOp::max:
      return is_signed ? redux<AtomOp::max, std::int32_t> : redux<AtomOp::max, Word>;
    default: return nullptr;
  }
}

}  // namespace

WarpFn find_warp_op(const Instr& instr) {
  switch (instr.opcode) {
    case Opcode::shfl_: return find_shfl(instr.modifiers);
    case Opcode::vote_: return find_vote(instr.modifiers.vote);
    case Opcode::match_: return find_match(instr.modifiers);
    case Opcode::redux_: return find_redux(instr.modifiers);
    case Opcode::activemask_: return activemask;
    case Opcode::elect_: return elect;
    default: return nullptr;
  }
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
