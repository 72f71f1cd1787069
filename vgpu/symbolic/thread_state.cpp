#include "vgpu/symbolic/thread_state.hpp"

#include <algorithm>

namespace warpcheck::vgpu::symbolic {

namespace {

constexpr std::size_t kAddressesMax = 4;

std::size_t addresses_in(const Value& value) {
  return 1 + (value.otherwise ? addresses_in(value.otherwise->value) : 0);
}

// condition ? a : b, of addresses in different arrays.
Value chosen_address(const z3::expr& condition, const Value& a, const Value& b) {
  if (condition.is_true()) return a;
  if (condition.is_false()) return b;
  if (addresses_in(a) + addresses_in(b) > kAddressesMax) return {};
  Value result = Value::address(a.object, *a.term);
  const z3::expr first = a.otherwise ? both(condition, a.otherwise->condition) : condition;
  const Value rest = a.otherwise ? merged(condition, a.otherwise->value, b) : b;
  if (!rest.is_address()) return {};
  result.otherwise = std::make_shared<const Value::Otherwise>(Value::Otherwise{first, rest});
  return result;
}

}  // namespace

Value Value::mapped(const std::function<z3::expr(const z3::expr&)>& terms,
                    const std::function<z3::expr(const z3::expr&)>& conditions) const {
  Value result = *this;
  if (term) result.term = terms(*term);
  if (otherwise) {
    result.otherwise = std::make_shared<const Otherwise>(
        Otherwise{conditions(otherwise->condition), otherwise->value.mapped(terms, conditions)});
  }
  return result;
}

Value merged(const z3::expr& condition, const Value& a, const Value& b) {
  if (a.kind != b.kind || a.made_by != b.made_by) return {};
  if (a.kind == Value::Kind::other && a.made_by == 0) return {};
  // Ways that part and meet again do not make choices of choices.
  const bool is_same =
      a.otherwise == b.otherwise && a.object == b.object && a.term->id() == b.term->id();
  if (is_same) return a;
  const bool is_one_array =
      !a.is_address() || (a.object == b.object && !a.otherwise && !b.otherwise);
  if (!is_one_array) return chosen_address(condition, a, b);
  return {a.kind, choose(condition, *a.term, *b.term), a.object, a.made_by, {}};
}

z3::expr conjunction(z3::context& context, const Path& path, std::size_t first) {
  z3::expr all = context.bool_val(true);
  for (std::size_t i = first; i < path.size(); ++i) all = both(all, path[i]);
  return all;
}

ThreadState merged(z3::context& context, const ThreadState& a, const ThreadState& b) {
  ThreadState result;
  std::size_t common = 0;
  const std::size_t shorter = std::min(a.path.size(), b.path.size());
  while (common < shorter && a.path[common].id() == b.path[common].id()) {
    result.path.push_back(a.path[common++]);
  }
  const z3::expr of_a = conjunction(context, a.path, common);
  const z3::expr of_b = conjunction(context, b.path, common);
  const z3::expr any = either(of_a, of_b);
  if (!any.is_true()) result.path.push_back(any);
  // A short condition makes short terms: what excludes the other way is enough.
  const z3::expr condition = common + 1 == b.path.size() && common + 1 < a.path.size()
                                 ? opposite(of_b)
                             : common < a.path.size() && common < b.path.size() &&
                                     opposite(a.path[common]).id() == b.path[common].id()
                                 ? a.path[common]
                                 : of_a;
  for (std::size_t i = 0; i < a.registers.size(); ++i) {
    result.registers.push_back(merged(condition, a.registers[i], b.registers[i]));
  }
  return result;
}

}  // namespace warpcheck::vgpu::symbolic
