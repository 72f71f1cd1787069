#include "vgpu/machine/tensor/warpgroups.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "vgpu/machine/tensor/warpgroup_steps.hpp"
#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {

using ptx::CopyOp;
using ptx::Type;

namespace {

constexpr std::uint32_t kWarpRows = 16;
constexpr std::uint32_t kReadBytes = ProductRead::kChunkBytes, kChunksOfRegister = 8;

// The fields of a descriptor (9.7.15.5.1.2.2).
struct Descriptor {
  std::uint64_t bits;

  [[nodiscard]] std::uint32_t field(unsigned first, unsigned count) const {
    return static_cast<std::uint32_t>(bits >> first & ((1u << count) - 1));
  }
  [[nodiscard]] std::uint32_t start() const { return field(0, 14) << 4; }
  [[nodiscard]] std::uint32_t leading() const { return field(16, 14) << 4; }
  [[nodiscard]] std::uint32_t stride() const { return field(32, 14) << 4; }
  [[nodiscard]] std::uint32_t base_offset() const { return field(49, 3); }
  // Bytes that swizzling stays within; 16: there is none.
  [[nodiscard]] std::uint32_t span() const {
    const std::uint32_t mode = field(62, 2);
    return mode == 0 ? 16 : 256u >> mode;
  }
};

// Where the lanes of a warp find what they read, before swizzling: lanes with the same lane / 4 in
// one row of a (or column of b), those with the same lane % 4 at one k.
struct Places {
  std::uint32_t first = 0, line_step = 0, k_step = 0;
  std::uint32_t span = 0;
  std::uint32_t base_offset = 0;  // the pattern of swizzling begins at this row of 128 bytes

  [[nodiscard]] std::uint32_t of(std::uint32_t lane) const {
    const std::uint32_t at = first + lane / 4 * line_step + lane % 4 * k_step;
    const std::uint32_t row = (at >> 7) - base_offset;
    return at ^ (row & (span / 16 - 1)) << 4;
  }
};

// Four bytes of each of eight rows (or columns), the rows 8 * eight and following; the lanes of one
// row have the 16 bytes of k from number 16 * chunk on.  Eight rows of 16 bytes, or of as many as
// the swizzling span has, are adjacent (9.7.15.5.1.2).
Places places_along_k(const Descriptor& d, std::uint32_t eight, std::uint32_t chunk) {
  const std::uint32_t span = d.span(), chunks = span / 16;
  return {
      .first = d.start() + eight * d.stride() + chunk % chunks * 16 + chunk / chunks * d.leading(),
      .line_step = span,
      .k_step = 4,
      .span = span,
      .base_offset = d.base_offset()};
}

// The same in a matrix of 2-byte elements whose neighbours in memory have the same k: element
// `part` of each lane's two.
Places places_across_k(const Descriptor& d, std::uint32_t eight, std::uint32_t chunk,
                       std::uint32_t part) {
  const std::uint32_t span = d.span(), chunks = span / 16;
  const bool plain = span == 16;
  return {.first = d.start() + eight % chunks * 16 +
                   eight / chunks * (plain ? d.stride() : d.leading()) + part * span +
                   chunk * (plain ? d.leading() : d.stride()),
          .line_step = 2,
          .k_step = 2 * span,
          .span = span,
          .base_offset = d.base_offset()};
}

// Returns which eight rows of a, or columns of b, a register has elements of.
std::uint32_t eight_of(const RunningFragment& run, const GroupLoad& load, std::uint32_t number) {
  return load.is_b ? number / load.chunks()
                   : kWarpRows / 8 * (run.warp.index % kGroupWarps) + number % 2;
}

// Returns whether all these lanes have the same value.
bool is_uniform(const RunningFragment& run, const Ref& ref, std::uint32_t lanes) {
  const std::uint64_t first = lane_value(run, ref, static_cast<unsigned>(std::countr_zero(lanes)));
  bool is_same = true;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    is_same &= lane_value(run, ref, lane) == first;
  }
  return is_same;
}

// Returns how many groups every lane of the warp has closed; warps that have exited hold nobody up.
std::uint32_t closed_by_all(const Warp& warp) {
  std::uint32_t closed = UINT32_MAX;
  for (std::uint32_t rest = warp.live; rest != 0; rest &= rest - 1) {
    closed = std::min(closed, warp.closed_products[static_cast<unsigned>(std::countr_zero(rest))]);
  }
  return closed;
}

// "The wgmma.fence instruction must be used ... before the first wgmma.mma_async operation in a
// kernel" (9.7.15.7.1).  Whether later ones are missing is not looked for: by the ISA a copy is an
// access, and compilers copy registers between the fence and the product of a right program.
bool has_fenced(const Program& program, const Warp& warp) {
  return std::ranges::any_of(warp.group_steps, [&](const Warp::GroupStep& step) {
    return program.code[step.pc].modifiers.copy_op == CopyOp::fence;
  });
}

}  // namespace

bool must_wait_for_warpgroup(const RunningLaunch& launch, const Slot& slot, Warp& warp,
                             const Fragment& fragment) {
  const Instr& instr = launch.program().code[fragment.pc];
  if (instr.kind != InstrKind::group_pending) return false;
  if (instr.modifiers.copy_op != CopyOp::wait_group) return false;
  const auto lane = static_cast<unsigned>(std::countr_zero(fragment.mask));
  const LaneBanks banks = banks_of(launch.program(), warp, fragment);
  const std::uint32_t groups_left = word_of(banks, instr[GroupOperand::groups_left], lane);
  const std::uint32_t closed = warp.closed_products[lane];
  if (closed <= groups_left) return false;
  const std::uint32_t first = warp.index / kGroupWarps * kGroupWarps;
  const std::uint32_t end = std::min(first + kGroupWarps, launch.warps_per_block());
  for (std::uint32_t other = first; other < end; ++other) {
    if (closed_by_all(slot.warps[other]) < closed - groups_left) return true;
  }
  return false;
}

Step Warpgroups::load(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  const Ref& descriptor = instr[GroupOperand::descriptor];
  launch_.use_of_undefined(run, UndefinedUse::Kind::address, descriptor, lanes);
  if (load_whole(run, instr, lanes)) return Step::again;
  current_.begin_asynchronous(true);
  const std::uint32_t registers = group_load_of(instr).registers();
  for (std::uint32_t number = 0; number < registers; ++number) {
    load_register(run, instr, number, lanes);
  }
  current_.end_asynchronous();
  return Step::again;
}

// Loads all registers at once, as chunks of 16 bytes: each has a register of four lanes, or, in
// transposed matrices, half a register of eight lanes.  False: nothing was done, because the lanes
// do not read the same, some of it is not there, or an observer must see it one by one.
bool Warpgroups::load_whole(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  const GroupLoad load = group_load_of(instr);
  const Ref& from = instr[GroupOperand::descriptor];
  const Allocation* const shared = run.slot.shared;
  if (lanes != ~0u || shared == nullptr || !is_uniform(run, from, lanes)) return false;
  const Descriptor descriptor{lane_value(run, from, 0)};
  const std::uint32_t registers = load.registers();
  chunks_.clear();
  for (std::uint32_t number = 0; number < registers; ++number) {
    const std::uint32_t chunk = load.chunk_of(number), eight = eight_of(run, load, number);
    for (std::uint32_t i = 0; i < kChunksOfRegister; ++i) {
      const Places places = load.transposed ? places_across_k(descriptor, eight, chunk, i % 2)
                                            : places_along_k(descriptor, eight, chunk);
      chunks_.push_back(places.of(load.transposed ? i / 2 : 4 * i));
    }
  }
  const auto is_outside = [&](std::uint32_t offset) {
    return offset % kReadBytes != 0 || std::uint64_t{offset} + kReadBytes > shared->limit();
  };
  if (std::ranges::any_of(chunks_, is_outside)) return false;
  const bool is_told =
      current_.report({.allocation = shared,
                       .program = &launch_.program(),
                       .place = launch_.place_of(run.slot, run.warp),
                       .pc = run.pc,
                       .chunks = chunks_,
                       .lanes_of_chunk = static_cast<std::uint8_t>(load.transposed ? 0 : 4),
                       .lanes_of_word = static_cast<std::uint8_t>(load.transposed ? 8 : 1)});
  if (!is_told) return false;
  for (std::uint32_t number = 0; number < registers; ++number) {
    const Ref to = row_after(instr[GroupOperand::rows], number);
    std::byte* const row = row_of(run.banks, to);
    for (std::uint32_t i = 0; i < kChunksOfRegister; ++i) {
      const std::byte* const chunk = shared->data + chunks_[number * kChunksOfRegister + i];
      if (!load.transposed) {
        std::memcpy(row + i * kReadBytes, chunk, kReadBytes);
        continue;
      }
      for (std::uint32_t line = 0; line < 8; ++line) {
        std::memcpy(row + (4 * line + i / 2) * 4 + i % 2 * 2, chunk + 2 * line, 2);
      }
    }
    if (run.warp.undefined.any()) {
      run.warp.undefined.set(run.frame, to, {}, lanes, launch_.program());
    }
  }
  return true;
}

void Warpgroups::load_register(RunningFragment& run, const Instr& instr, std::uint32_t number,
                               std::uint32_t lanes) {
  const Ref to = row_after(instr[GroupOperand::rows], number);
  load_part(run, instr, to, number, 0, lanes);
  if (!group_load_of(instr).transposed) return;
  const Ref& high = instr[GroupOperand::part];
  load_part(run, instr, high, number, 1, lanes);
  join(run, to, high, lanes);
}

// Loads a word of each lane, or one half of it.
void Warpgroups::load_part(RunningFragment& run, const Instr& instr, const Ref& to,
                           std::uint32_t number, std::uint32_t part, std::uint32_t lanes) {
  const GroupLoad load = group_load_of(instr);
  const Ref addresses{Bank::wide, instr.address_rows};
  const std::uint32_t chunk = load.chunk_of(number), eight = eight_of(run, load, number);
  const auto places_of = [&](unsigned lane) {
    const Descriptor descriptor{lane_value(run, instr[GroupOperand::descriptor], lane)};
    return load.transposed ? places_across_k(descriptor, eight, chunk, part)
                           : places_along_k(descriptor, eight, chunk);
  };
  std::byte* const row = row_of(run.banks, addresses);
  const auto put = [&](unsigned lane, const Places& places) {
    const std::uint64_t address = places.of(lane);
    std::memcpy(row + lane * sizeof address, &address, sizeof address);
  };
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  if (is_uniform(run, instr[GroupOperand::descriptor], lanes)) {
    const Places places = places_of(first);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) put(lane, places);
  } else {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) put(lane, places_of(lane));
  }
  Instr access = instr;
  access.kind = InstrKind::load;
  access.operands = {};
  access.guard = {};
  access.modifiers = {};
  access.modifiers.space = ptx::Space::shared;
  access.modifiers.type = load.transposed ? Type::b16 : Type::b32;
  access.displacement = 0;
  access[MemoryOperand::address] = addresses;
  access[MemoryOperand::value] = to;
  accesses_.execute(run, access, lanes);
}

void Warpgroups::join(RunningFragment& run, const Ref& low, const Ref& high,
                      std::uint32_t lanes) const {
  constexpr unsigned kHalf = 16;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t word = word_of(run.banks, low, lane) | word_of(run.banks, high, lane)
                                                                   << kHalf;
    std::memcpy(row_of(run.banks, low) + lane * sizeof word, &word, sizeof word);
  }
  UndefinedRegisters& undefined = run.warp.undefined;
  if (!undefined.any()) return;
  const UndefinedLanes added = undefined.get(run.frame, high);
  if ((added.mask & lanes) == 0) return;
  LaneBits bits = undefined.bits_of(run.frame, low);
  const LaneBits above = undefined.bits_of(run.frame, high);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    bits[lane] |= (above[lane] & ones_of(2)) << kHalf;
  }
  undefined.set_bits(run.frame, low, bits, added.origin, lanes, launch_.program());
}

void Warpgroups::change_groups(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  const WarpPlace place = launch_.place_of(run.slot, run.warp);
  if (instr.opcode == ptx::Opcode::setmaxnreg_) return note_warpgroup_step(run, lanes);
  if (instr.modifiers.copy_op == CopyOp::none) {
    if (!has_fenced(launch_.program(), run.warp)) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      launch_.report_misuse(run, lane, BarrierDivergence::Reason::no_fence);
    }
    return begin_pending(run, instr, lanes);
  }
  note_warpgroup_step(run, lanes);
  if (instr.modifiers.copy_op == CopyOp::fence) return;
  if (instr.modifiers.copy_op == CopyOp::commit_group) {
    const CopyCommit commit{&launch_.program(), place, run.pc, lanes, false};
    launch_.notify([&](Observer& observer) { observer.on_copy_commit(commit); });
    run.warp.has_closed_products = true;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      ++run.warp.closed_products[static_cast<unsigned>(std::countr_zero(rest))];
    }
    return;
  }
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  const std::uint32_t groups_left = word_of(run.banks, instr[GroupOperand::groups_left], lane);
  const CopyWait waited{&launch_.program(), place, run.pc, lanes, groups_left, false, false};
  launch_.notify([&](Observer& observer) { observer.on_copy_wait(waited); });
  wait(run, groups_left, lanes);
}

void Warpgroups::begin_pending(RunningFragment& run, const Instr& instr,
                               std::uint32_t lanes) const {
  if (!current_.is_watched()) return;
  UndefinedRegisters& undefined = run.warp.undefined;
  for (std::uint32_t i = 0; i < instr.pending_rows; ++i) {
    const Ref row = row_after(instr[GroupOperand::rows], i);
    const UndefinedLanes before = undefined.get(run.frame, row);
    const bool was_pending = before.origin != ptx::kNone &&
                             launch_.program().code[before.origin].kind == InstrKind::group_pending;
    const std::uint32_t unwritten = was_pending ? 0 : before.mask;
    undefined.set(run.frame, row, {lanes & ~unwritten, run.pc}, lanes & ~unwritten,
                  launch_.program());
  }
  for (std::uint32_t rest = lanes; rest != 0;) {
    const std::uint32_t group =
        run.warp.closed_products[static_cast<unsigned>(std::countr_zero(rest))];
    std::uint32_t same = 0;
    for (std::uint32_t one = rest; one != 0; one &= one - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(one));
      if (run.warp.closed_products[lane] == group) same |= 1u << lane;
    }
    run.warp.pending_products.push_back({run.pc, group, same});
    rest &= ~same;
  }
}

// What was computed from such a result before the wait becomes defined with it.
void Warpgroups::wait(RunningFragment& run, std::uint32_t groups_left, std::uint32_t lanes) const {
  std::vector<Warp::PendingProduct>& pending = run.warp.pending_products;
  std::vector<Warp::PendingProduct> complete;
  for (Warp::PendingProduct& product : pending) {
    std::uint32_t done = 0;
    for (std::uint32_t rest = product.lanes & lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const bool is_done =
          std::uint64_t{product.group} + groups_left < run.warp.closed_products[lane];
      if (is_done) done |= 1u << lane;
    }
    if (done == 0) continue;
    complete.push_back({product.pc, product.group, done});
    product.lanes &= ~done;
  }
  std::erase_if(pending, [](const Warp::PendingProduct& product) { return product.lanes == 0; });
  for (const Warp::PendingProduct& product : complete) {
    std::uint32_t again = 0;  // lanes that have begun another product there
    for (const Warp::PendingProduct& other : pending) {
      if (other.pc == product.pc) again |= other.lanes;
    }
    run.warp.undefined.forget(product.pc, product.lanes & ~again);
  }
}

}  // namespace warpcheck::vgpu
