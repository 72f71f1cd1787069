// Shadow values that pass between the lanes of a warp: shuffles, votes, reductions, products of
// matrices.
//
// Lanes arrive one after the other, in one fragment or in several.  What a lane brings is kept when
// it arrives; results are given when the machine reports the operation.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "vgpu/check/shadow/shadow_matrix.hpp"
#include "vgpu/check/shadow/shadow_registers.hpp"
#include "vgpu/check/shadow/shadow_rules.hpp"
#include "vgpu/machine/events.hpp"
#include "vgpu/machine/warp/shuffle_source.hpp"
#include "vgpu/program/operand_roles.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

template <class Domain>
class ShadowMeetings {
 public:
  using Value = typename Domain::Value;
  using Cells = ShadowCells<Value>;
  using Reading = ShadowReading<Value>;
  using Operand = ShadowOperand<Value>;
  using Registers = ShadowRegisters<Value>;

  // Lanes are about to execute the operation, or to wait for others.
  //   here(lane): the ShadowStep
  template <class Here>
  void begin(Domain& domain, const InstrStep& step, Registers& registers, std::uint32_t site,
             Here here) {
    const Instr& instr = step.program->code[step.pc];
    const ShadowFrame frame{step.registers, step.warp};
    site_ = site;
    if (is_matrix_product(instr)) {
      product_ = shadow_product(domain, frame, instr, registers, step.active, site, here);
    }
    for_each_lane(step.active, [&](unsigned lane) {
      for (const WarpOperand operand :
           {WarpOperand::lane, WarpOperand::clamp, WarpOperand::members}) {
        std::uint32_t where = site;
        const bool is_other = is_matrix_product(instr) && operand != WarpOperand::members;
        if (!is_other && !registers.is_plain(frame, instr[operand], lane, where))
          domain.decided(here(lane), ShadowDecision::operand, where);
      }
      if (!is_matrix_product(instr)) bring(domain, frame, instr, registers, lane);
    });
    if (instr.kind == InstrKind::warp)
      finish(domain, {step.program, step.place, step.pc, step.active, step.active}, registers,
             here);
  }

  template <class Here>
  void finish(Domain& domain, const Collective& done, Registers& registers, Here here) {
    const Instr& instr = done.program->code[done.pc];
    if (is_matrix_product(instr)) return product_.give(registers, done.mask);
    switch (instr.opcode) {
      case ptx::Opcode::shfl_: return shuffle(done, registers);
      case ptx::Opcode::redux_: return reduce(domain, done, instr, registers, here);
      default: return vote(done, registers);
    }
  }

 private:
  // What a lane brings, and where its results go.
  struct Arrival {
    std::array<typename Cells::Cell, 2> cells{};
    Reading value;
    std::uint64_t bits = 0;
    unsigned from = 0;  // the lane that it reads
    Bank bank = Bank::none;
    std::uint64_t to = 0;
    std::size_t predicate = kNoPredicate;
  };
  static constexpr std::size_t kNoPredicate = ~std::size_t{0};

  template <class Visit>
  static void for_each_lane(std::uint32_t lanes, Visit visit) {
    for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
  }

  void bring(const Domain&, const ShadowFrame& frame, const Instr& instr, Registers& registers,
             unsigned lane) {
    Arrival& mine = arrivals_[lane];
    mine = {};
    const Ref& value = instr[WarpOperand::value];
    if (is_register(value)) {
      const std::uint64_t at = frame.byte_of(value, lane);
      for (std::uint32_t i = 0; i < 2; ++i) mine.cells[i] = registers.cells(value).cell(at / 2 + i);
      mine.value = registers.cells(value).read(at, Registers::bytes_of(value), site_);
      mine.bits = frame.bits_of(value, lane, 0, Registers::bytes_of(value));
    } else if (value.bank == Bank::predicate) {
      const auto& predicates = registers.predicates(frame.index_of_predicate(value));
      if ((predicates.lost >> lane & 1u) != 0)
        mine.value = {ShadowState::lost, {}, predicates.site};
    } else if (value.bank == Bank::constant) {
      mine.bits = frame.bits_of(value, lane, 0, 4);
    }
    if (instr.opcode == ptx::Opcode::shfl_) {
      mine.from = shuffle_source(
          instr.modifiers.shuffle, lane,
          static_cast<std::uint32_t>(frame.bits_of(instr[WarpOperand::lane], lane, 0, 4)),
          static_cast<std::uint32_t>(frame.bits_of(instr[WarpOperand::clamp], lane, 0, 4)));
    }
    const Ref& result = instr[WarpOperand::result];
    mine.bank = result.bank;
    if (is_register(result)) mine.to = frame.byte_of(result, lane);
    if (result.bank == Bank::predicate) mine.to = frame.index_of_predicate(result);
    const Ref& predicate = instr[WarpOperand::predicate];
    if (predicate.bank == Bank::predicate) mine.predicate = frame.index_of_predicate(predicate);
  }

  void shuffle(const Collective& done, Registers& registers) {
    for_each_lane(done.mask, [&](unsigned lane) {
      const Arrival& mine = arrivals_[lane];
      if (mine.predicate != kNoPredicate)
        registers.predicates(mine.predicate).make_plain(1u << lane);
      if (mine.bank != Bank::word) return;
      Cells& cells = registers.cells({mine.bank, 0});
      const bool is_there = (done.members >> mine.from & 1u) != 0;
      if (!is_there) return cells.lose(mine.to, 4, site_);
      for (std::uint32_t i = 0; i < 2; ++i) {
        cells.put(mine.to / 2 + i, arrivals_[mine.from].cells[i]);
      }
    });
  }

  // The result depends on all members.
  void vote(const Collective& done, Registers& registers) {
    std::uint32_t where = ptx::kNone;
    for_each_lane(done.members, [&](unsigned lane) {
      const Reading& value = arrivals_[lane].value;
      if (value.state == ShadowState::plain) return;
      where = value.state == ShadowState::lost ? value.site : site_;
    });
    for_each_lane(done.mask, [&](unsigned lane) { give(lane, registers, {}, where); });
  }

  template <class Here>
  void reduce(Domain& domain, const Collective& done, const Instr& instr, Registers& registers,
              Here here) {
    const ptx::AtomOp op = instr.modifiers.atom_op;
    const ShadowOperation operation{op == ptx::AtomOp::add   ? ptx::Opcode::add_
                                    : op == ptx::AtomOp::min ? ptx::Opcode::min_
                                    : op == ptx::AtomOp::max ? ptx::Opcode::max_
                                                             : ptx::Opcode::redux_,
                                    &instr.modifiers, instr.modifiers.type, instr.modifiers.type};
    bool is_plain = true, is_first = true;
    std::optional<Operand> sum;
    for_each_lane(done.members, [&](unsigned lane) {
      const Arrival& one = arrivals_[lane];
      is_plain = is_plain && one.value.state == ShadowState::plain;
      std::optional<Value> value = one.value.value;
      if (one.value.state == ShadowState::plain)
        value = domain.constant(one.bits, instr.modifiers.type);
      const bool is_other = one.value.state == ShadowState::value &&
                            !is_of_type<Domain>(one.value.value, instr.modifiers.type);
      if (one.value.state == ShadowState::lost || is_other) value = std::nullopt;
      std::optional<Operand> next;
      if (value) next = Operand{one.value.state == ShadowState::plain, *value, one.bits};
      if (!is_first && sum && next) {
        const std::array<Operand, 2> operands{*sum, *next};
        const std::optional<Value> result = domain.apply(here(lane), operation, operands, nullptr);
        next = result ? std::optional<Operand>({false, *result, 0}) : std::nullopt;
      }
      sum = is_first || sum ? next : std::nullopt;
      is_first = false;
    });
    for_each_lane(done.mask, [&](unsigned lane) {
      const bool is_lost = !is_plain && !sum;
      give(lane, registers, is_plain ? std::nullopt : sum, is_lost ? site_ : ptx::kNone);
    });
  }

  // value: of the result; lost_at: where it was lost; neither: it is plain
  void give(unsigned lane, Registers& registers, const std::optional<Operand>& value,
            std::uint32_t lost_at) {
    const Arrival& mine = arrivals_[lane];
    const auto give_predicate = [&](std::size_t index) {
      auto& predicates = registers.predicates(index);
      predicates.make_plain(1u << lane);
      if (lost_at != ptx::kNone) predicates.lose(1u << lane, lost_at);
    };
    if (mine.predicate != kNoPredicate) give_predicate(mine.predicate);
    if (mine.bank == Bank::predicate) return give_predicate(mine.to);
    if (mine.bank != Bank::word && mine.bank != Bank::wide) return;
    Cells& cells = registers.cells({mine.bank, 0});
    const std::uint32_t bytes = mine.bank == Bank::wide ? 8 : 4;
    cells.make_plain(mine.to, bytes);
    if (lost_at != ptx::kNone) cells.lose(mine.to, bytes, lost_at);
    if (value) cells.set(mine.to, bytes, value->value);
  }

  std::array<Arrival, kWarpLanes> arrivals_{};
  std::uint32_t site_ = 0;
  ShadowProduct<Value> product_;
};

}  // namespace warpcheck::vgpu
