// Control flow of random programs.
//
// Where lanes diverge, the lanes of each way first determine their mask by a vote, so that warp
// operations can name exactly these lanes.  Registers and labels have unique numbers instead of
// scopes, because the targets of a jump table must not be in an inner scope.
#include <fmt/format.h>

#include "vgpu/differential/random/generator.hpp"

namespace warpcheck::vgpu {

std::string Generator::statements(const Place& place) {
  std::string text;
  const auto count = 2 + prng_.below(6);
  for (std::uint64_t i = 0; i < count; ++i) text += "//+\n" + statement(place) + "//-\n";
  return text;
}

std::string Generator::statement(const Place& place) {
  Place inner = place;
  inner.budget /= 2;
  const std::uint64_t kind = prng_.below(32);
  if (place.budget > 0) {
    if (kind < 2) return either(inner);
    if (kind == 2 && place.loop_depth < 2) return loop(inner);
    if (kind == 3) return jump_table(inner);
  }
  if (kind == 4 && functions_ > 0) return call(place);
  if (kind < 8) return private_access(place);
  if (kind == 8) return private_atomic(place);
  if (kind == 9) return constant_load();
  if (kind < 13 && !place.lanes.empty()) return warp_operation(place);
  if (kind == 13 && place.uniform) return exchange();
  if (kind == 14 && place.uniform) return shared_atomics();
  if (kind == 15 && place.uniform) return block_barrier();
  if (kind == 16) return carry_chain();
  return compute(place);
}

std::string Generator::either(const Place& place) {
  const unsigned id = label_++;
  const std::string condition = predicate();
  Place first = place, second = place;
  first.uniform = second.uniform = false;
  std::string text;
  if (!place.lanes.empty()) {
    first.lanes = fmt::format("then{}", id);
    second.lanes = fmt::format("else{}", id);
    text += fmt::format(
        ".reg .b32 then{0}, else{0};\nvote.sync.ballot.b32 then{0}, {1}, {2};\n"
        "xor.b32 else{0}, then{0}, {2};\n",
        id, condition, place.lanes);
  }
  const bool falls_through = prng_.one_in(5);
  const bool has_else = !prng_.one_in(3);
  if (falls_through) second.lanes = place.lanes;
  text += fmt::format("@!{} bra ELSE{};\n", condition, id) + statements(first);
  if (has_else && !falls_through) text += fmt::format("bra END{};\n", id);
  text += fmt::format("ELSE{}:\n", id);
  if (has_else) text += statements(second);
  return text + fmt::format("END{}:\n", id);
}

// A loop that each lane repeats as often as one of its registers says, or that all lanes repeat
// equally often.
std::string Generator::loop(const Place& place) {
  const unsigned id = label_++;
  const bool is_uniform = prng_.one_in(3);
  Place inner = place;
  ++inner.loop_depth;
  std::string text =
      fmt::format(".reg .b32 count{0}, left{0}, lanes{0};\n.reg .pred again{0};\n", id);
  if (is_uniform) {
    text += fmt::format("mov.u32 count{}, {};\n", id, prng_.below(3));
  } else {
    text += fmt::format("and.b32 count{}, {}, 3;\n", id, word());
    inner.uniform = false;
    if (!place.lanes.empty()) inner.lanes = fmt::format("lanes{}", id);
  }
  const bool knows_lanes = !is_uniform && !place.lanes.empty();
  if (knows_lanes) text += fmt::format("mov.b32 lanes{}, {};\n", id, place.lanes);
  const bool breaks = !is_uniform && prng_.one_in(3);
  text += fmt::format("LOOP{}:\n", id) + statements(inner);
  if (breaks) {
    const std::string condition = predicate();
    text += "//+\n";
    if (knows_lanes) {
      text += fmt::format(
          "vote.sync.ballot.b32 left{0}, {1}, lanes{0};\nxor.b32 lanes{0}, lanes{0}, left{0};\n",
          id, condition);
    }
    text += fmt::format("@{} bra OUT{};\n//-\n", condition, id) + statements(inner);
  }
  text += fmt::format("sub.u32 count{0}, count{0}, 1;\nsetp.ge.s32 again{0}, count{0}, 0;\n", id);
  if (knows_lanes) text += fmt::format("vote.sync.ballot.b32 lanes{0}, again{0}, lanes{0};\n", id);
  return text + fmt::format("@again{0} bra LOOP{0};\nOUT{0}:\n", id);
}

std::string Generator::jump_table(const Place& place) {
  const unsigned id = label_++;
  const bool shares_an_arm = prng_.one_in(2);  // two indices lead to it, from four
  Place inner = place;
  inner.uniform = false;
  inner.lanes.clear();
  std::string text = fmt::format(".reg .b32 index{0}, lanes{0};\n", id);
  if (shares_an_arm) {
    text += fmt::format(
        "and.b32 index{0}, {1}, 3;\nTABLE{0}: .branchtargets ARMA{0}, ARMB{0}, ARMC{0}, ARMB{0};\n",
        id, word());
  } else {
    text += fmt::format(
        "rem.u32 index{0}, {1}, 3;\nTABLE{0}: .branchtargets ARMA{0}, ARMB{0}, ARMC{0};\n", id,
        word());
    if (!place.lanes.empty()) {
      text += fmt::format("match.any.sync.b32 lanes{0}, index{0}, {1};\n", id, place.lanes);
      inner.lanes = fmt::format("lanes{}", id);
    }
  }
  text += fmt::format("brx.idx index{0}, TABLE{0};\n", id);
  for (const char arm : {'A', 'B', 'C'}) {
    text += fmt::format("ARM{}{}:\n", arm, id) + statements(inner);
    if (prng_.one_in(2)) {
      text += fmt::format("bra AFTER{};\n", id);
    } else {
      inner.lanes.clear();  // the next arm is also reached from this one
    }
  }
  return text + fmt::format("AFTER{}:\n", id);
}

// Functions contain few calls, and none in loops, so that programs end soon.
std::string Generator::call(const Place& place) {
  if (!place.in_kernel && (place.loop_depth > 0 || calls_left_ == 0)) return compute(place);
  if (!place.in_kernel) --calls_left_;
  std::string text = fmt::format(
      "{{\n.param .b32 p0;\n.param .b32 p1;\n.param .b64 p2;\n.param .b32 q;\n"
      ".reg .b32 which;\n.reg .b64 entry, place;\n"
      "st.param.b32 [p0], %u0;\nst.param.b32 [p1], {};\nst.param.b64 [p2], {};\n",
      word(), wide());
  if (prng_.one_in(2)) {
    text += fmt::format(
        "and.b32 which, {1}, 1;\nmul.wide.u32 entry, which, 8;\nmov.u64 place, table;\n"
        "add.u64 entry, entry, place;\nld.global.u64 entry, [entry];\n"
        "SHAPE{0}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b64 "
        "_);\n"
        "call (q), entry, (p0, p1, p2), SHAPE{0};\n",
        label_++, word());
  } else {
    text += fmt::format("call (q), f{}, (p0, p1, p2);\n", prng_.below(functions_));
  }
  return text + fmt::format("ld.param.b32 {}, [q];\n}}\n", word());
}

}  // namespace warpcheck::vgpu
