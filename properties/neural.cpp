// Softmax, layer norm, variance, dot product, a product of halves, attention: each agrees with its
// definition within the rounding of its own operations.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/neural/attention.hpp"
#include "kernels/neural/half_product.hpp"
#include "kernels/neural/moments.hpp"
#include "kernels/neural/softmax.hpp"
#include "kernels/specimens/neural.hpp"
#include "reference/neural.hpp"

namespace warpcheck {

// Rows of `columns` numbers; -infinity is a masked one.
struct SoftmaxInput {
  int columns = 1;
  std::vector<float> in;
  int block = 32;
};
FIELDS(SoftmaxInput, columns, in, block);

// Rows as long as scale and shift.
struct LayerNormInput {
  std::vector<float> in;
  std::vector<float> scale;
  std::vector<float> shift;
  int block = 32;
};
FIELDS(LayerNormInput, in, scale, shift, block);

struct VarianceInput {
  std::vector<float> in;
  int block = 32;
};
FIELDS(VarianceInput, in, block);

struct DotInput {
  std::vector<float> a;
  std::vector<float> b;
  int block = 32;
};
FIELDS(DotInput, a, b, block);

// Tiles of kHalfProductTile.
struct HalfProductInput {
  int m = 1, n = 1, k = 1;
  std::vector<float> a;
  std::vector<float> b;
};
FIELDS(HalfProductInput, m, n, k, a, b);

struct AttentionInput {
  int window = 1;
  std::vector<float> queries;
  std::vector<float> keys;
  std::vector<float> values;
};
FIELDS(AttentionInput, window, queries, keys, values);

namespace {

using FloatList = std::vector<float>;
using DoubleList = std::vector<double>;

constexpr float kAttentionScale = 0.35355339F;  // 1 / sqrt(kAttentionWidth)
constexpr std::size_t kTileElements = std::size_t{kHalfProductTile} * kHalfProductTile;

bool all_within(const FloatList& values, float limit) {
  return std::ranges::all_of(values, [&](float x) { return std::fabs(x) <= limit; });
}
bool is_block(int block) { return block >= 1 && block <= 128; }
DoubleList widened_of(const FloatList& values) { return {values.begin(), values.end()}; }
FloatList rounded_to_floats(const DoubleList& values) {
  FloatList rounded;
  for (const double value : values) rounded.push_back(static_cast<float>(value));
  return rounded;
}

// --- inputs --------------------------------------------------------------------------------------

constexpr float kSoftmaxMost = 500, kMomentMost = 1e6F, kFactorMost = 4;

bool is_softmax(const SoftmaxInput& input) {
  return input.columns >= 1 && is_block(input.block) &&
         input.in.size() % static_cast<std::size_t>(input.columns) == 0 &&
         input.in.size() <= 1'000 && std::ranges::all_of(input.in, [](float x) {
           return x == -INFINITY || std::fabs(x) <= kSoftmaxMost;
         });
}
bool is_layer_norm(const LayerNormInput& input) {
  return !input.scale.empty() && input.scale.size() == input.shift.size() &&
         input.in.size() % input.scale.size() == 0 && input.in.size() <= 1'000 &&
         is_block(input.block) && all_within(input.in, kMomentMost) &&
         all_within(input.scale, kMomentMost) && all_within(input.shift, kMomentMost);
}
bool has_variance(const VarianceInput& input) {
  return !input.in.empty() && input.in.size() <= 2'000 && is_block(input.block) &&
         all_within(input.in, kMomentMost);
}
bool has_dot(const DotInput& input) {
  return input.a.size() == input.b.size() && input.a.size() <= 2'000 && is_block(input.block) &&
         all_within(input.a, kMomentMost) && all_within(input.b, kMomentMost);
}
bool is_half_product(const HalfProductInput& input) {
  const auto is_side = [](int tiles) { return tiles >= 0 && tiles <= 4; };
  const auto elements = [](int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * kTileElements;
  };
  return is_side(input.m) && is_side(input.n) && is_side(input.k) &&
         input.a.size() == elements(input.m, input.k) &&
         input.b.size() == elements(input.k, input.n) && all_within(input.a, kFactorMost) &&
         all_within(input.b, kFactorMost);
}
bool is_attention(const AttentionInput& input) {
  return input.window >= 1 && input.queries.size() % kAttentionWidth == 0 &&
         input.queries.size() <= 64 * kAttentionWidth &&
         input.keys.size() == input.queries.size() && input.values.size() == input.queries.size() &&
         all_within(input.queries, 8) && all_within(input.keys, 8) &&
         all_within(input.values, kMomentMost);
}

Gen<float> moderate_floats(double most) {
  return floats<float>({.nan = false, .infinities = false, .magnitude_max = most});
}
int draw_neural_block(Draw& draw) { return static_cast<int>(draw(blocks(64))); }

SoftmaxInput draw_softmax(Draw& draw) {
  const int columns = draw(sizes({.min = 1, .max = 40})), rows = draw(integers<int>(0, 2));
  FloatList in = draw(vectors(rows * columns, moderate_floats(draw.once_in(3) ? 300 : 10)));
  const float most = draw.once_in(3) ? 100 : 0;
  const bool has_masks = draw.once_in(2), is_masked = draw.once_in(4);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] += most;
    if (has_masks && draw.once_in(3)) in[i] = -INFINITY;
    if (is_masked && i < static_cast<std::size_t>(columns)) in[i] = -INFINITY;
  }
  return {columns, std::move(in), draw_neural_block(draw)};
}
// Half of them have a mean that is large beside their distances from it.
FloatList draw_moments(Draw& draw, int n) {
  FloatList in = draw(vectors(n, moderate_floats(10)));
  if (!draw.once_in(2)) return in;
  const float mean = draw(moderate_floats(1'000));
  for (float& x : in) x += mean;
  return in;
}
LayerNormInput draw_layer_norm(Draw& draw) {
  const int columns = draw(sizes({.min = 1, .max = 40})), rows = draw(integers<int>(0, 2));
  return {draw_moments(draw, rows * columns), draw(vectors(columns, moderate_floats(4))),
          draw(vectors(columns, moderate_floats(4))), draw_neural_block(draw)};
}
VarianceInput draw_variance(Draw& draw) {
  return {draw_moments(draw, draw(sizes({.min = 1, .max = 300}))), draw_neural_block(draw)};
}
DotInput draw_dot(Draw& draw) {
  const int n = draw(sizes({.max = 300}));
  return {draw(vectors(n, moderate_floats(1'000))), draw(vectors(n, moderate_floats(1'000))),
          draw_neural_block(draw)};
}
// Numbers of 6 bits below the point: halves hold them.
HalfProductInput draw_half_product(Draw& draw) {
  HalfProductInput input{1, 1, draw(integers<int>(0, 2)), {}, {}};
  if (draw.once_in(16)) input.m = 2;
  if (draw.once_in(16)) input.n = 2;
  const auto elements = [&](int rows, int columns) {
    FloatList values;
    const std::vector<int> whole =
        draw(vectors(rows * columns * static_cast<int>(kTileElements), integers<int>(-128, 128)));
    for (const int value : whole) values.push_back(static_cast<float>(value) / 64);
    return values;
  };
  input.a = elements(input.m, input.k);
  input.b = elements(input.k, input.n);
  return input;
}
AttentionInput draw_attention(Draw& draw) {
  const int n = draw(sizes({.max = 20}));
  const auto elements = [&](double most) {
    return draw(vectors(n * kAttentionWidth, moderate_floats(most)));
  };
  return {draw(integers<int>(1, 20)), elements(4), elements(4), elements(4)};
}

// --- kernels -------------------------------------------------------------------------------------

using SoftmaxKernel = cudaError_t (*)(const float*, float*, int, int, dim3);
using LayerNormKernel = cudaError_t (*)(const float*, const float*, const float*, float*, int, int,
                                        dim3);
using AttentionKernel = cudaError_t (*)(const float*, const float*, const float*, float*, int, int,
                                        float);

template <SoftmaxKernel softmax>
FloatList run_softmax(Device& device, const SoftmaxInput& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<float>(input.in.size());
  const int rows = static_cast<int>(input.in.size()) / input.columns;
  device.check(softmax(in.data(), out.data(), rows, input.columns,
                       dim3(static_cast<unsigned>(input.block))));
  return out.download();
}

template <LayerNormKernel layer_norm>
FloatList run_layer_norm(Device& device, const LayerNormInput& input) {
  const auto in = device.upload(input.in);
  const auto scale = device.upload(input.scale);
  const auto shift = device.upload(input.shift);
  auto out = device.array<float>(input.in.size());
  const int columns = static_cast<int>(input.scale.size());
  device.check(layer_norm(in.data(), scale.data(), shift.data(), out.data(),
                          static_cast<int>(input.in.size()) / columns, columns,
                          dim3(static_cast<unsigned>(input.block))));
  return out.download();
}

template <cudaError_t (*of)(const float*, float*, int, dim3)>
FloatList run_variance(Device& device, const VarianceInput& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<float>(1);
  device.check(of(in.data(), out.data(), static_cast<int>(input.in.size()),
                  dim3(static_cast<unsigned>(input.block))));
  return out.download();
}

FloatList run_dot(Device& device, const DotInput& input) {
  const auto a = device.upload(input.a);
  const auto b = device.upload(input.b);
  auto out = device.array<float>(1);
  device.check(dot_product(a.data(), b.data(), out.data(), static_cast<int>(input.a.size()),
                           dim3(static_cast<unsigned>(input.block))));
  return out.download();
}

template <bool sums_in_half>
FloatList run_half_product(Device& device, const HalfProductInput& input) {
  const auto a = device.upload(input.a);
  const auto b = device.upload(input.b);
  const int m = input.m * kHalfProductTile, n = input.n * kHalfProductTile,
            k = input.k * kHalfProductTile;
  const std::size_t elements = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  auto halves = device.array<__half>(input.a.size() + input.b.size());
  auto c = device.array<float>(elements);
  if constexpr (sums_in_half) {
    auto sums = device.array<__half>(elements);
    device.check(
        half_product_half_sums(a.data(), b.data(), halves.data(), sums.data(), c.data(), m, n, k));
  } else {
    device.check(half_product(a.data(), b.data(), halves.data(), c.data(), m, n, k));
  }
  return c.download();
}

template <AttentionKernel attention>
FloatList run_attention(Device& device, const AttentionInput& input) {
  const auto queries = device.upload(input.queries);
  const auto keys = device.upload(input.keys);
  const auto values = device.upload(input.values);
  auto out = device.array<float>(input.queries.size());
  device.check(attention(queries.data(), keys.data(), values.data(), out.data(),
                         static_cast<int>(input.queries.size()) / kAttentionWidth, input.window,
                         kAttentionScale));
  return out.download();
}

// --- references, in double and exact -------------------------------------------------------------

// Calls the reference with lists of doubles, and with exact ones.
#define NEURAL_REFERENCE(name, Input, ...)                                    \
  template <class List>                                                       \
  auto name##_of(const Input& in, List list) {                                \
    return __VA_ARGS__;                                                       \
  }                                                                           \
  FloatList name##_in_double(const Input& in) {                               \
    return rounded_to_floats(name##_of(in, widened_of));                      \
  }                                                                           \
  std::vector<Exact> name##_exactly(const Input& in, const ExactData& data) { \
    return name##_of(in, [&](const FloatList& list) { return data(list); });  \
  }

NEURAL_REFERENCE(softmax, SoftmaxInput,
                 reference::softmax(list(in.in),
                                    in.in.size() / static_cast<std::size_t>(in.columns),
                                    static_cast<std::size_t>(in.columns)))
NEURAL_REFERENCE(layer_norm, LayerNormInput,
                 reference::layer_norm(list(in.in), list(in.scale), list(in.shift),
                                       in.in.size() / in.scale.size(), kLayerNormEpsilon))
NEURAL_REFERENCE(variance, VarianceInput, std::vector{reference::variance_of(list(in.in))})
NEURAL_REFERENCE(dot, DotInput, std::vector{reference::dot_product(list(in.a), list(in.b))})
NEURAL_REFERENCE(half_product, HalfProductInput,
                 reference::product(list(in.a), list(in.b),
                                    static_cast<std::size_t>(in.m) * kHalfProductTile,
                                    static_cast<std::size_t>(in.n) * kHalfProductTile,
                                    static_cast<std::size_t>(in.k) * kHalfProductTile))
NEURAL_REFERENCE(attention, AttentionInput,
                 reference::attention(list(in.queries), list(in.keys), list(in.values),
                                      kAttentionWidth, static_cast<std::size_t>(in.window),
                                      kAttentionScale))

}  // namespace

#define NEURAL_PAIR(name, Input, kind, is_input, of, run, agrees, from, ...) \
  KERNEL_PAIR(name, Input, std::vector<float>) = {                           \
      .family = kind,                                                        \
      .origin = from,                                                        \
      .expects = {__VA_ARGS__},                                              \
      .domain = is_input,                                                    \
      .arbitrary = draw_##of,                                                \
      .kernel = run,                                                         \
      .reference = of##_in_double,                                           \
      .agreement = agrees,                                                   \
      .exact_reference = of##_exactly,                                       \
  }

// --- clean pairs ---------------------------------------------------------------------------------

NEURAL_PAIR(softmax_three_pass, SoftmaxInput, "softmax", is_softmax, softmax,
            run_softmax<::softmax_three_pass>, within_rounding(), "ours: maximum, sum, quotients");
NEURAL_PAIR(softmax_online, SoftmaxInput, "softmax", is_softmax, softmax,
            run_softmax<::softmax_online>, within_rounding(),
            "ours, after Milakov and Gimelshein 2018");
NEURAL_PAIR(layer_norm_two_pass, LayerNormInput, "layer norm", is_layer_norm, layer_norm,
            run_layer_norm<::layer_norm_two_pass>, within_rounding(),
            "ours, after Ba, Kiros and Hinton 2016");
NEURAL_PAIR(layer_norm_welford, LayerNormInput, "layer norm", is_layer_norm, layer_norm,
            run_layer_norm<::layer_norm_welford>, within_rounding(),
            "ours, after Welford 1962 and Chan, Golub and LeVeque 1979");
NEURAL_PAIR(variance_two_pass, VarianceInput, "variance", has_variance, variance,
            run_variance<::variance>, within_rounding(), "ours: two passes");
NEURAL_PAIR(dot_product, DotInput, "dot product", has_dot, dot, run_dot, within_rounding(), "ours");
NEURAL_PAIR(half_product, HalfProductInput, "half product", is_half_product, half_product,
            run_half_product<false>, within_rounding(), "ours: wmma with float sums");
NEURAL_PAIR(attention, AttentionInput, "attention", is_attention, attention,
            run_attention<::attention>, within_rounding(),
            "ours, after Dao, Fu, Ermon, Rudra and Re 2022");

// --- specimens -----------------------------------------------------------------------------------

NEURAL_PAIR(softmax_no_maximum, SoftmaxInput, "softmax", is_softmax, softmax,
            run_softmax<::softmax_no_maximum>, within_rounding(),
            "ours, planted: no maximum is subtracted", "mismatch");
NEURAL_PAIR(softmax_masked_row, SoftmaxInput, "softmax", is_softmax, softmax,
            run_softmax<::softmax_masked_row>, within_rounding(),
            "ours, planted: a masked row is -inf - -inf", "mismatch");
NEURAL_PAIR(softmax_fast_power, SoftmaxInput, "softmax", is_softmax, softmax,
            run_softmax<::softmax_fast_power>, within_rounding(),
            "ours, planted: (1 + x / 1024)^1024 for exp(x)", "mismatch");
NEURAL_PAIR(variance_of_squares, VarianceInput, "variance", has_variance, variance,
            run_variance<::variance_of_squares>, within_rounding_of_reference(),
            "ours, planted: the mean of squares less the squared mean", "mismatch");
NEURAL_PAIR(half_product_half_sums, HalfProductInput, "half product", is_half_product, half_product,
            run_half_product<true>, within_rounding(), "ours, planted: wmma with sums in half",
            "mismatch");
NEURAL_PAIR(attention_masked_tile, AttentionInput, "attention", is_attention, attention,
            run_attention<::attention_masked_tile>, within_rounding(),
            "ours, planted: a masked tile is -inf - -inf", "mismatch");

}  // namespace warpcheck
