// The certificate of equality: formulas in other words are certified, and other formulas are not
// (kernels/specimens/planted/formulas.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/input/json.hpp"
#include "harness/pair/pair.hpp"
#include "harness/prove/equality.hpp"
#include "kernels/specimens/planted/formulas.hpp"

namespace warpcheck {

struct FormulaFloats {
  std::vector<float> in;
  int way = 0;
};
FIELDS(FormulaFloats, in, way);
struct FormulaInts {
  std::vector<int> in;
  int way = 0;
};
FIELDS(FormulaInts, in, way);

namespace {
template <class Input, auto launch>
auto run_formula(Device& device, const Input& input, int way) {
  const auto in = device.upload(input.in);
  auto out = device.array<typename decltype(Input::in)::value_type>(input.in.size());
  device.check(launch(in.data(), out.data(), static_cast<int>(input.in.size()), way));
  return out.download();
}
}  // namespace

#define FORMULA_PAIR(name, Input, Element, launch)                                               \
  KERNEL_PAIR(name, Input, std::vector<Element>) = {                                             \
      .arbitrary = [](Draw&) { return Input{}; },                                                \
      .kernel =                                                                                  \
          [](Device& device, const Input& input) {                                               \
            return run_formula<Input, launch>(device, input, input.way);                         \
          },                                                                                     \
      .reference = same_as([](Device& device, const Input& input) {                              \
        return run_formula<Input, launch>(device, input, input.way - input.way % kWaysOfFamily); \
      }),                                                                                        \
  }
FORMULA_PAIR(formula_of_floats, FormulaFloats, float, ::formula_of_floats);
FORMULA_PAIR(formula_of_ints, FormulaInts, int, ::formula_of_ints);

namespace {

EqualityCertificate formula_certificate(const std::string& name, int size, int way,
                                        cudart::Build build) {
  const AnyPair& pair = *Registry::global().find(name);
  Json numbers = Json::array();
  for (int i = 0; i < size; ++i) numbers.push_back(i % 7 + 1);
  return certify_equality({.pair = &pair,
                           .property = {},
                           .input = pair.from_json({{"in", numbers}, {"way", way}}),
                           .schedule = vgpu::Schedule{},
                           .settings = {.build = build},
                           .tape = {}});
}

struct Family {
  const char* pair;
  int family, size;
  int right, wrong;               // the last way
  std::vector<int> unknown = {};  // right ones that are not certified: there is no rule
};
const Family kFamilies[] = {{"formula_of_floats", 0, 33, 3, 57},       // smoothing
                            {"formula_of_floats", 1, 17, 4, 59},       // layer norm
                            {"formula_of_floats", 2, 6, 2, 55},        // complex squares
                            {"formula_of_floats", 3, 32, 2, 54},       // polynomials
                            {"formula_of_floats", 4, 21, 5, 57, {4}},  // moving maxima
                            {"formula_of_floats", 5, 17, 4, 56},       // quotients
                            {"formula_of_floats", 6, 41, 2, 56},       // correlations
                            {"formula_of_floats", 7, 5, 1, 55},        // roots and functions
                            {"formula_of_floats", 8, 5, 5, 57},        // softmax
                            {"formula_of_floats", 9, 5, 5, 57},        // softmax
                            {"formula_of_floats", 10, 2, 3, 55},       // logistic
                            {"formula_of_floats", 11, 5, 4, 60},       // softmax with branches
                            {"formula_of_floats", 12, 5, 3, 56},       // attention
                            {"formula_of_ints", 0, 13, 3, 58},         // sums and products
                            {"formula_of_ints", 1, 3, 4, 58},          // maxima
                            {"formula_of_ints", 2, 40, 2, 54}};        // sums

TEST(Formulas, OtherWordsAreCertified) {
  for (const Family& one : kFamilies) {
    for (int way = 0; way <= one.right; ++way) {
      const EqualityCertificate certificate = formula_certificate(
          one.pair, one.size, kWaysOfFamily * one.family + way, cudart::Build::optimized);
      const bool is_known = std::ranges::find(one.unknown, way) == one.unknown.end();
      EXPECT_EQ(certificate.equality, is_known ? Equality::equal : Equality::unknown)
          << one.pair << " " << one.family << " " << way << ": " << certificate.reason;
    }
  }
}

TEST(Formulas, OthersAreNotCertified) {
  for (const Family& one : kFamilies) {
    for (int way = kWrongWay; way <= one.wrong; ++way) {
      const EqualityCertificate certificate = formula_certificate(
          one.pair, one.size, kWaysOfFamily * one.family + way, cudart::Build::optimized);
      EXPECT_NE(certificate.equality, Equality::equal)
          << one.pair << " " << one.family << " " << way;
      EXPECT_FALSE(certificate.reason.empty());
    }
  }
}

}  // namespace
}  // namespace warpcheck
