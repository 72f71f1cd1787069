// Source: PTX ISA 9.0, chapter 9.
#include "vgpu/ptx/suffixes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace warpcheck::ptx {
namespace {

template <class Enum>
constexpr Suffix suffix(std::string_view word, SuffixClass suffix_class, Enum value) {
  return {word, suffix_class, static_cast<std::uint8_t>(value), nullptr};
}
constexpr Suffix flag(std::string_view word, SuffixClass suffix_class,
                      bool Modifiers::*what = nullptr) {
  return {word, suffix_class, 1, what};
}

using C = SuffixClass;

constexpr std::array kClassNames = {
#define X(name) std::string_view(#name),
    WARPCHECK_SUFFIX_CLASSES(X)
#undef X
};

// All suffixes but the types, whose suffixes are their names.
constexpr std::array kSuffixes = {
    suffix("global", C::space, Space::global),
    suffix("shared", C::space, Space::shared),
    suffix("shared::cta", C::space, Space::shared),
    suffix("local", C::space, Space::local),
    suffix("const", C::space, Space::constant),
    suffix("param", C::space, Space::param),
    suffix("param::entry", C::space, Space::param),
    suffix("param::func", C::space, Space::param),

    suffix("rn", C::rounding, Rounding::rn),
    suffix("rz", C::rounding, Rounding::rz),
    suffix("rm", C::rounding, Rounding::rm),
    suffix("rp", C::rounding, Rounding::rp),
    suffix("rna", C::rounding, Rounding::rna),
    suffix("rs", C::rounding, Rounding::rs),
    suffix("rni", C::rounding, Rounding::rni),
    suffix("rzi", C::rounding, Rounding::rzi),
    suffix("rmi", C::rounding, Rounding::rmi),
    suffix("rpi", C::rounding, Rounding::rpi),

    suffix("eq", C::compare, Compare::eq),
    suffix("ne", C::compare, Compare::ne),
    suffix("lt", C::compare, Compare::lt),
    suffix("le", C::compare, Compare::le),
    suffix("gt", C::compare, Compare::gt),
    suffix("ge", C::compare, Compare::ge),
    suffix("lo", C::compare, Compare::lo),
    suffix("ls", C::compare, Compare::ls),
    suffix("hi", C::compare, Compare::hi),
    suffix("hs", C::compare, Compare::hs),
    suffix("equ", C::compare, Compare::equ),
    suffix("neu", C::compare, Compare::neu),
    suffix("ltu", C::compare, Compare::ltu),
    suffix("leu", C::compare, Compare::leu),
    suffix("gtu", C::compare, Compare::gtu),
    suffix("geu", C::compare, Compare::geu),
    suffix("num", C::compare, Compare::num),
    suffix("nan", C::compare, Compare::nan),

    suffix("and", C::boolop, BoolOp::and_),
    suffix("or", C::boolop, BoolOp::or_),
    suffix("xor", C::boolop, BoolOp::xor_),

    suffix("add", C::atomop, AtomOp::add),
    suffix("min", C::atomop, AtomOp::min),
    suffix("max", C::atomop, AtomOp::max),
    suffix("and", C::atomop, AtomOp::and_),
    suffix("or", C::atomop, AtomOp::or_),
    suffix("xor", C::atomop, AtomOp::xor_),
    suffix("exch", C::atomop, AtomOp::exch),
    suffix("cas", C::atomop, AtomOp::cas),
    suffix("inc", C::atomop, AtomOp::inc),
    suffix("dec", C::atomop, AtomOp::dec),

    suffix("weak", C::order, Order::weak),
    suffix("relaxed", C::order, Order::relaxed),
    suffix("acquire", C::order, Order::acquire),
    suffix("release", C::order, Order::release),
    suffix("acq_rel", C::order, Order::acq_rel),
    suffix("sc", C::order, Order::sc),
    suffix("volatile", C::order, Order::volatile_),
    suffix("mmio", C::order, Order::mmio),

    suffix("cta", C::scope, Scope::cta),
    suffix("cluster", C::scope, Scope::cluster),
    suffix("gpu", C::scope, Scope::gpu),
    suffix("gl", C::scope, Scope::gpu),  // membar.gl
    suffix("sys", C::scope, Scope::sys),

    suffix("lo", C::part, MulPart::lo),
    suffix("hi", C::part, MulPart::hi),
    suffix("wide", C::part, MulPart::wide),

    suffix("up", C::shuffle, ShuffleMode::up),
    suffix("down", C::shuffle, ShuffleMode::down),
    suffix("bfly", C::shuffle, ShuffleMode::bfly),
    suffix("idx", C::shuffle, ShuffleMode::idx),

    suffix("all", C::vote, VoteMode::all),
    suffix("any", C::vote, VoteMode::any),
    suffix("uni", C::vote, VoteMode::uni),
    suffix("ballot", C::vote, VoteMode::ballot),

    suffix("v2", C::vector, 2),
    suffix("v4", C::vector, 4),
    suffix("v8", C::vector, 8),

    suffix("f4e", C::permute, PermuteMode::f4e),
    suffix("b4e", C::permute, PermuteMode::b4e),
    suffix("rc8", C::permute, PermuteMode::rc8),
    suffix("ecl", C::permute, PermuteMode::ecl),
    suffix("ecr", C::permute, PermuteMode::ecr),
    suffix("rc16", C::permute, PermuteMode::rc16),

    suffix("finite", C::test, TestProperty::finite),
    suffix("infinite", C::test, TestProperty::infinite),
    suffix("number", C::test, TestProperty::number),
    suffix("notanumber", C::test, TestProperty::notanumber),
    suffix("normal", C::test, TestProperty::normal),
    suffix("subnormal", C::test, TestProperty::subnormal),

    suffix("global", C::spaces, Space::global),
    suffix("shared", C::spaces, Space::shared),
    suffix("shared::cta", C::spaces, Space::shared),

    suffix("init", C::objectop, ObjectOp::init),
    suffix("inval", C::objectop, ObjectOp::inval),
    suffix("arrive", C::objectop, ObjectOp::arrive),
    suffix("arrive_drop", C::objectop, ObjectOp::arrive_drop),
    suffix("expect_tx", C::objectop, ObjectOp::expect_tx),
    suffix("complete_tx", C::objectop, ObjectOp::complete_tx),
    suffix("test_wait", C::objectop, ObjectOp::test_wait),
    suffix("try_wait", C::objectop, ObjectOp::try_wait),
    suffix("pending_count", C::objectop, ObjectOp::pending_count),

    suffix("commit_group", C::copyop, CopyOp::commit_group),
    suffix("wait_group", C::copyop, CopyOp::wait_group),
    suffix("wait_all", C::copyop, CopyOp::wait_all),
    suffix("mbarrier", C::copyop, CopyOp::arrive),

    suffix("bulk_group", C::completion, Completion::bulk_group),
    suffix("mbarrier::complete_tx::bytes", C::completion, Completion::object),

    suffix("1d", C::dimensions, 1),
    suffix("2d", C::dimensions, 2),
    suffix("3d", C::dimensions, 3),
    suffix("4d", C::dimensions, 4),
    suffix("5d", C::dimensions, 5),

    flag("approx", C::approx, &Modifiers::approx),
    flag("full", C::approx, &Modifiers::full),
    flag("wrap", C::clamp, &Modifiers::wrap),
    flag("clamp", C::clamp, &Modifiers::clamp),
    flag("r", C::leftright, &Modifiers::right),
    flag("l", C::leftright, &Modifiers::left),
    flag("abs", C::xorsign, &Modifiers::absolute),
    flag("xorsign", C::xorsign, &Modifiers::xorsign),

    flag("ftz", C::ftz, &Modifiers::ftz),
    flag("sat", C::sat, &Modifiers::sat),
    flag("cc", C::carry, &Modifiers::carry_out),
    flag("uni", C::uni, &Modifiers::uniform),
    flag("aligned", C::aligned, &Modifiers::aligned),
    flag("sync", C::sync, &Modifiers::sync),
    flag("arrive", C::arrive, &Modifiers::arrive),
    flag("red", C::red, &Modifiers::red),
    flag("to", C::to, &Modifiers::to),
    flag("warp", C::warp, &Modifiers::warp),
    flag("shiftamt", C::shiftamt, &Modifiers::shift_amount),
    flag("NaN", C::nan, &Modifiers::nan),
    flag("abs", C::abs, &Modifiers::absolute),
    flag("relu", C::relu, &Modifiers::relu),
    flag("pack", C::pack, &Modifiers::pack),
    flag("satfinite", C::satfinite, &Modifiers::satfinite),
    flag("noftz", C::noftz),
    flag("popc", C::popc, &Modifiers::popc),
    flag("idx", C::idx),
    flag("noComplete", C::nocomplete, &Modifiers::no_complete),
    flag("parity", C::parity, &Modifiers::parity),
    flag("noinc", C::noinc, &Modifiers::no_increment),
    flag("oob", C::oob, &Modifiers::out_of_bounds),
    flag("async", C::async, &Modifiers::async),
    flag("shared::cluster", C::cluster),
    flag("bulk", C::bulk, &Modifiers::bulk),
    flag("reduce", C::reduce, &Modifiers::reduce),
    flag("multicast::cluster", C::multicast, &Modifiers::multicast),
    flag("read", C::read, &Modifiers::read),
    flag("wait", C::wait, &Modifiers::wait),
    flag("proxy", C::proxy, &Modifiers::proxy),
    flag("alias", C::alias, &Modifiers::alias),
    flag("mbarrier_init", C::objectinits, &Modifiers::object_inits),
    flag("cta", C::cta),  // bar.cta, barrier.cta: these forms have no other barriers

    flag("tensor", C::tensor, &Modifiers::tensor),
    flag("tile", C::tile),  // the mode of tensor copies that name none
    flag("tile::gather4", C::fourrows, &Modifiers::four_rows),
    flag("tile::scatter4", C::fourrows, &Modifiers::four_rows),
    flag("cp_mask", C::cpmask, &Modifiers::cp_mask),
    suffix("cta_group::1", C::ctagroup, 1),
    suffix("cta_group::2", C::ctagroup, 2),
    flag("im2col", C::im2col, &Modifiers::im2col),
    flag("im2col_no_offs", C::im2col, &Modifiers::im2col),  // of copies to global memory
    flag("prefetch", C::prefetch, &Modifiers::prefetch),
    flag("tensormap", C::tensormap),  // prefetch of a tensor map
    flag("tensormap::generic", C::genericmap, &Modifiers::tensor_map),
    flag("async::generic", C::async, &Modifiers::async),
    flag("sync_restrict::shared::cta", C::restricted),
    flag("sync_restrict::shared::cluster", C::restricted),

    // Four elements, of which an instruction gives two at a time.
    suffix("e2m1x4", C::type, Type::e2m1x2),
    suffix("e2m3x4", C::type, Type::e2m3x2),
    suffix("e3m2x4", C::type, Type::e3m2x2),
    suffix("e4m3x4", C::type, Type::e4m3x2),
    suffix("e5m2x4", C::type, Type::e5m2x2),

    // Suffixes of vmad, which the decoder reads.
    flag("po", C::scale),
    flag("shr7", C::scale),
    flag("shr15", C::scale),

    flag("ca", C::cache),
    flag("cg", C::cache),
    flag("cs", C::cache),
    flag("lu", C::cache),
    flag("cv", C::cache),
    flag("wb", C::cache),
    flag("wt", C::cache),
    flag("nc", C::noncoherent, &Modifiers::noncoherent),
    flag("L1", C::cache),
    flag("L2", C::cache),
    flag("L1::evict_normal", C::cache),
    flag("L1::evict_unchanged", C::cache),
    flag("L1::evict_first", C::cache),
    flag("L1::evict_last", C::cache),
    flag("L1::no_allocate", C::cache),
    flag("L2::evict_normal", C::cache),
    flag("L2::evict_first", C::cache),
    flag("L2::evict_last", C::cache),
    flag("L2::64B", C::cache),
    flag("L2::128B", C::cache),
    flag("L2::256B", C::cache),
    flag("L2::cache_hint", C::cache),
};

// Assigns a value to a field that has not been set yet; returns whether it could.
template <class Field>
bool set_once(Field& field, Field unset, std::uint8_t value) {
  if (field != unset) return false;
  field = static_cast<Field>(value);
  return true;
}

bool set_type(Modifiers& m, std::uint8_t value) {
  Type& type = m.type == Type::none          ? m.type
               : m.source_type == Type::none ? m.source_type
                                             : m.third_type;
  return set_once(type, Type::none, value);
}

bool raise(bool& flag) {
  const bool was_set = flag;
  flag = true;
  return !was_set;
}

// The first space is that of the target, the second that of the source.
bool set_spaces(Modifiers& m, std::uint8_t value) {
  return set_once(m.space == Space::generic ? m.space : m.source_space, Space::generic, value);
}

// .mmio.relaxed is one memory order in two words, and so is .mmio.release of an asynchronous store,
// which orders as .release does (PTX ISA 9.0, 9.7.9.8, 9.7.9.12).
bool set_order(Modifiers& m, std::uint8_t value) {
  const auto order = static_cast<Order>(value);
  if (m.order == Order::mmio && order == Order::relaxed) return true;
  if (m.order == Order::mmio && order == Order::release && m.async) {
    m.order = order;
    return true;
  }
  return set_once(m.order, Order::weak, value);
}

// .arrive.expect_tx and .arrive_drop.expect_tx perform both operations.
bool set_object_op(Modifiers& m, std::uint8_t value) {
  const bool arrives = m.object_op == ObjectOp::arrive || m.object_op == ObjectOp::arrive_drop;
  if (arrives && static_cast<ObjectOp>(value) == ObjectOp::expect_tx) return raise(m.expect_tx);
  return set_once(m.object_op, ObjectOp::none, value);
}

}  // namespace

std::string_view name_of(SuffixClass suffix_class) {
  return kClassNames[static_cast<std::size_t>(suffix_class)];
}

int find_suffix_class(std::string_view name) {
  const auto found = std::find(kClassNames.begin(), kClassNames.end(), name);
  return found == kClassNames.end() ? -1 : static_cast<int>(found - kClassNames.begin());
}

std::string_view reason_against(std::string_view word) {
  const bool is_wide = word == "im2col::w" || word == "im2col::w::128";
  return is_wide ? "the ISA shows the layout of the halo in figures, and no GPU has recorded it"
                 : "";
}

std::span<const Suffix> find_suffixes(std::string_view word) {
  static const auto& sorted = *new const auto([] {
    std::vector<Suffix> all(kSuffixes.begin(), kSuffixes.end());
    for (int at = static_cast<int>(Type::pred); at <= static_cast<int>(Type::f64); ++at) {
      all.push_back(suffix(name_of(static_cast<Type>(at)), C::type, at));
    }
    std::ranges::stable_sort(all, {}, &Suffix::word);
    return all;
  }());
  const auto first = std::ranges::lower_bound(sorted, word, {}, &Suffix::word);
  const auto last = std::ranges::upper_bound(sorted, word, {}, &Suffix::word);
  return {first, last};
}

bool apply(const Suffix& suffix, Modifiers& m) {
  if (suffix.flag != nullptr) return raise(m.*suffix.flag);
  switch (suffix.suffix_class) {
    case C::type: return set_type(m, suffix.value);
    case C::space: return set_once(m.space, Space::generic, suffix.value);
    case C::rounding: return set_once(m.rounding, Rounding::none, suffix.value);
    case C::compare: return set_once(m.compare, Compare::none, suffix.value);
    case C::boolop: return set_once(m.bool_op, BoolOp::none, suffix.value);
    case C::atomop: return set_once(m.atom_op, AtomOp::none, suffix.value);
    case C::order: return set_order(m, suffix.value);
    case C::scope: return set_once(m.scope, Scope::none, suffix.value);
    case C::part: return set_once(m.part, MulPart::none, suffix.value);
    case C::shuffle: return set_once(m.shuffle, ShuffleMode::none, suffix.value);
    case C::vote: return set_once(m.vote, VoteMode::none, suffix.value);
    case C::vector: return set_once<std::uint8_t>(m.vector, 1, suffix.value);
    case C::permute: return set_once(m.permute, PermuteMode::none, suffix.value);
    case C::test: return set_once(m.test, TestProperty::none, suffix.value);
    case C::spaces: return set_spaces(m, suffix.value);
    case C::objectop: return set_object_op(m, suffix.value);
    case C::copyop: return set_once(m.copy_op, CopyOp::none, suffix.value);
    case C::completion: return set_once(m.completion, Completion::none, suffix.value);
    case C::dimensions: return set_once<std::uint8_t>(m.dimensions, 0, suffix.value);
    case C::ctagroup: return set_once<std::uint8_t>(m.cta_group, 0, suffix.value);
    case C::cluster:
      return raise(m.cluster) && set_spaces(m, static_cast<std::uint8_t>(Space::shared));
    case C::cache:
    case C::noftz:
    case C::idx:
    case C::scale:
    case C::tile:
    case C::tensormap:
    case C::restricted:
    case C::cta: return true;  // these change nothing that can be observed, or have one form only
    default: throw std::logic_error(fmt::format("suffix .{} sets nothing", suffix.word));
  }
}

}  // namespace warpcheck::ptx
