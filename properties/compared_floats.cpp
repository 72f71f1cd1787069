// A comparison that rounding decides: for tests of the search for such inputs, not for the hunt.
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/specimens/planted/rounded.hpp"

namespace warpcheck {

struct ComparedFloats {
  std::vector<float> in;
};
FIELDS(ComparedFloats, in);

KERNEL_PAIR(compared_floats, ComparedFloats, std::vector<float>) = {
    .domain = [](const ComparedFloats& input) { return input.in.size() <= 64; },
    .arbitrary =
        [](Draw& draw) {
          const int n = draw(sizes({.max = 64}));
          return ComparedFloats{
              draw(vectors(n, floats<float>({.nan = false, .infinities = false})))};
        },
    .kernel =
        [](Device& device, const ComparedFloats& input) {
          const auto in = device.upload(input.in);
          auto out = device.array<float>(input.in.size());
          device.check(
              rounded_comparison(in.data(), out.data(), static_cast<int>(input.in.size())));
          return out.download();
        },
    .reference = none,
};

}  // namespace warpcheck
