// The certificate of equality: kernels whose result is their data, and kernels whose result looks
// like it if one forgets a format, a width, a sign, a zero or a NaN: none of these is certified
// (kernels/specimens/planted/wrong_formats.hpp).
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "harness/input/json.hpp"
#include "harness/pair/pair.hpp"
#include "harness/prove/equality.hpp"
#include "kernels/specimens/planted/wrong_formats.hpp"

namespace warpcheck {

struct FormatFloats {
  std::vector<float> in;
  int way = 0;
};
FIELDS(FormatFloats, in, way);
struct FormatInts {
  std::vector<int> in;
  int way = 0;
};
FIELDS(FormatInts, in, way);
struct FormatLongs {
  std::vector<long long> in;
  int way = 0;
};
FIELDS(FormatLongs, in, way);

namespace {
template <class Input, class Element, auto launch, class Unknown>
std::vector<Element> run_way(Device& device, const Input& input, Unknown unknown) {
  const auto in = device.upload(input.in);
  auto out = device.array<Element>(input.in.size());
  device.check(
      launch(in.data(), out.data(), static_cast<int>(input.in.size()), unknown, input.way));
  return out.download();
}
}  // namespace

#define FORMAT_PAIR(name, Input, Element, launch, unknown)                       \
  KERNEL_PAIR(name, Input, std::vector<Element>) = {                             \
      .arbitrary = [](Draw&) { return Input{}; },                                \
      .kernel =                                                                  \
          [](Device& device, const Input& input) {                               \
            return run_way<Input, Element, launch>(device, input, unknown);      \
          },                                                                     \
      .reference = [](const Input& input) { return input.in; },                  \
      .agreement = exactly(),                                                    \
      .exact_reference = [](const Input& input,                                  \
                            const ExactData& exact) { return exact(input.in); }, \
  }
FORMAT_PAIR(wrong_floats, FormatFloats, float, ::wrong_floats,
            std::numeric_limits<float>::quiet_NaN());
FORMAT_PAIR(wrong_ints, FormatInts, int, ::wrong_ints, 0);
FORMAT_PAIR(wrong_longs, FormatLongs, long long, ::wrong_longs, 0);

namespace {

EqualityCertificate certificate_of(const std::string& name, int way, cudart::Build build) {
  const AnyPair& pair = *Registry::global().find(name);
  return certify_equality({.pair = &pair,
                           .property = {},
                           .input = pair.from_json({{"in", {1, 2, 4}}, {"way", way}}),
                           .schedule = vgpu::Schedule{},
                           .settings = {.build = build},
                           .tape = {}});
}

struct Ways {
  const char* pair;
  int right, wrong;  // the number of ways
};
constexpr Ways kWays[] = {{"wrong_floats", 13, 45}, {"wrong_ints", 7, 30}, {"wrong_longs", 2, 11}};

class WrongFormats : public testing::TestWithParam<cudart::Build> {};

TEST_P(WrongFormats, AreNotCertified) {
  for (const Ways& ways : kWays) {
    for (int way = kWrongWays; way < kWrongWays + ways.wrong; ++way) {
      const EqualityCertificate certificate = certificate_of(ways.pair, way, GetParam());
      EXPECT_NE(certificate.equality, Equality::equal) << ways.pair << " " << way;
    }
  }
}

TEST_P(WrongFormats, HaveCorrectTwins) {
  for (const Ways& ways : kWays) {
    for (int way = 0; way < ways.right; ++way) {
      const EqualityCertificate certificate = certificate_of(ways.pair, way, GetParam());
      EXPECT_EQ(certificate.equality, Equality::equal)
          << ways.pair << " " << way << ": " << certificate.reason;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, WrongFormats,
                         testing::Values(cudart::Build::optimized, cudart::Build::unoptimized));

}  // namespace
}  // namespace warpcheck
