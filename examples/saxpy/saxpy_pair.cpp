#include <warpcheck/warpcheck.hpp>
#include "saxpy_reference.hpp"
using namespace warpcheck;
cudaError_t saxpy(float a, const float* x, float* y, int n);

struct SaxpyInput {
  float a{};
  std::vector<float> x{}, y{};
};
FIELDS(SaxpyInput, a, x, y);
KERNEL_PAIR(saxpy, SaxpyInput, std::vector<float>) = {
    .domain = [](const SaxpyInput& in) { return in.x.size() == in.y.size(); },
    .arbitrary =
        [](Draw& draw) {
          const auto values = vectors(draw(sizes({.max = 1'000})), floats<float>());
          return SaxpyInput{draw(floats<float>()), draw(values), draw(values)};
        },
    .kernel =
        [](Device& device, const SaxpyInput& in) {
          auto x = device.upload(in.x), y = device.upload(in.y);
          device.check(saxpy(in.a, x.data(), y.data(), static_cast<int>(y.size())));
          return y.download();
        },
    .reference = [](const SaxpyInput& in) { return saxpy_reference(in.a, in.x, in.y); },
};
