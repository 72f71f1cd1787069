#include "harness/adaptors/rapidcheck_adaptor.hpp"

namespace warpcheck {

Tape tape_of(const rc::Random& random) {
  return Tape::of_random([source = random]() mutable { return source.next(); });
}

bool simpler_tape(const std::vector<Choice>& a, const std::vector<Choice>& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const Choice& x, const Choice& y) { return x.value < y.value; });
}

bool for_each_smaller_tape(const std::vector<Choice>& choices,
                           FunctionRef<bool(std::vector<Choice>&&)> accept) {
  const bool shorter =
      for_each_chunk(choices.size(), [&](Chunk chunk) { return accept(without(choices, chunk)); });
  if (shorter) return true;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto take = [&](Candidate<std::uint64_t> make) {
      std::vector<Choice> copy = choices;
      copy[i].value = make();
      return accept(std::move(copy));
    };
    if (shrink_values<std::uint64_t>(choices[i].value, take)) return true;
  }
  return false;
}

}  // namespace warpcheck
