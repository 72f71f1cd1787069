// Chooses the instruction set of the host, once.
#include "vgpu/machine/compute/simd.hpp"

#include <cpuid.h>

#include <cstdlib>
#include <string_view>

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/matrix/warp_matrix.hpp"
#include "vgpu/machine/warp/warp_ops.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

bool is_wide_cvt(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (instr.opcode != ptx::Opcode::cvt_) return false;
  const bool wide_source =
      instr[ComputeOperand::a].bank == Bank::wide && ptx::bytes_of(m.source_type) < 8;
  const bool wide_result = instr[ComputeOperand::d].bank == Bank::wide && ptx::bytes_of(m.type) < 8;
  return wide_source || wide_result;
}

// The parts of x86-64-v3 that some compilers' __builtin_cpu_supports do not know: MOVBE, F16C,
// LZCNT.
bool has_rest_of_v3() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return false;
  const bool has_movbe = (ecx & bit_MOVBE) != 0;
  const bool has_f16c = (ecx & bit_F16C) != 0;
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) == 0) return false;
  return has_movbe && has_f16c && (ecx & bit_LZCNT) != 0;
}

ComputeFn find_typed(const Instr& instr, SimdLevel level) {
  switch (level) {
    case SimdLevel::baseline: return baseline::find_compute(instr);
    case SimdLevel::avx2: return avx2::find_compute(instr);
    case SimdLevel::avx512: return avx512::find_compute(instr);
  }
  return nullptr;
}

// Handles an operand in a 64-bit register where the type of a cvt is narrower (PTX ISA 9.0, 9.4.1,
// relaxed type checking): the row is narrowed before, or widened after, the function for its type.
void cvt_in_wide_rows(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const ptx::Modifiers& m = instr.modifiers;
  std::uint32_t source[kWarpLanes];
  std::uint32_t result[kWarpLanes] = {};
  LaneBanks narrow_banks = banks;
  Instr narrow = instr;
  if (instr[ComputeOperand::a].bank == Bank::wide && ptx::bytes_of(m.source_type) < 8) {
    const auto* wide = reinterpret_cast<const std::uint64_t*>(
        banks.base[static_cast<std::size_t>(Bank::wide)] + instr[ComputeOperand::a].offset);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      source[lane] = static_cast<std::uint32_t>(wide[lane]);
    }
    narrow_banks.base[static_cast<std::size_t>(Bank::constant)] =
        reinterpret_cast<std::byte*>(source);
    narrow[ComputeOperand::a] = {Bank::constant, 0};
  }
  const bool wide_result = instr[ComputeOperand::d].bank == Bank::wide && ptx::bytes_of(m.type) < 8;
  if (wide_result) {
    // A cvt has no predicates, so that bank can hold the temporary row.
    narrow_banks.base[static_cast<std::size_t>(Bank::predicate)] =
        reinterpret_cast<std::byte*>(result);
    narrow[ComputeOperand::d] = {Bank::predicate, 0};
  }
  find_typed(narrow, chosen_simd_level())(narrow_banks, narrow, mask);
  if (!wide_result) return;
  auto* wide = reinterpret_cast<std::uint64_t*>(banks.base[static_cast<std::size_t>(Bank::wide)] +
                                                instr[ComputeOperand::d].offset);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    const auto extended = static_cast<std::int64_t>(static_cast<std::int32_t>(result[lane]));
    wide[lane] = ptx::is_signed(m.type) ? static_cast<std::uint64_t>(extended) : result[lane];
  }
}

}  // namespace

std::string_view name_of(SimdLevel level) {
  switch (level) {
    case SimdLevel::baseline: return "baseline";
    case SimdLevel::avx2: return "avx2";
    case SimdLevel::avx512: return "avx512";
  }
  return "";
}

SimdLevel host_simd_level() {
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                        has_rest_of_v3();
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
  if (!has_avx2) return SimdLevel::baseline;
  return has_avx512 ? SimdLevel::avx512 : SimdLevel::avx2;
}

SimdLevel chosen_simd_level() {
  static const SimdLevel chosen = [] {
    const SimdLevel best = host_simd_level();
    const char* wanted = std::getenv("WARPCHECK_SIMD");
    if (wanted == nullptr) return best;
    for (const SimdLevel level : {SimdLevel::baseline, SimdLevel::avx2}) {
      if (name_of(level) == wanted && level < best) return level;
    }
    return best;
  }();
  return chosen;
}

std::string_view simd_level() { return name_of(chosen_simd_level()); }

ComputeFn find_compute(const Instr& instr, SimdLevel level) {
  const ComputeFn found = find_typed(instr, level);
  return found != nullptr && is_wide_cvt(instr) ? cvt_in_wide_rows : found;
}

ComputeFn find_compute(const Instr& instr) { return find_compute(instr, chosen_simd_level()); }

WarpFn find_warp_op(const Instr& instr, SimdLevel level) {
  if (const WarpFn product = find_matrix_op(instr, level); product != nullptr) return product;
  switch (level) {
    case SimdLevel::baseline: return baseline::find_warp_op(instr);
    case SimdLevel::avx2: return avx2::find_warp_op(instr);
    case SimdLevel::avx512: return avx512::find_warp_op(instr);
  }
  return nullptr;
}

WarpFn find_warp_op(const Instr& instr) { return find_warp_op(instr, chosen_simd_level()); }

}  // namespace warpcheck::vgpu
