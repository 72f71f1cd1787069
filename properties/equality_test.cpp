// The certificate of equality: pairs whose kernels equal their references for all data, and sixty
// kernels that calculate something else (kernels/specimens/planted/wrong_functions.hpp).
#include "harness/prove/equality.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "harness/input/json.hpp"
#include "harness/pair/pair.hpp"
#include "harness/prove/certificate.hpp"
#include "kernels/specimens/planted/wrong_functions.hpp"
#include "reference/exact.hpp"

namespace warpcheck {

using Floats = std::vector<float>;
using Ints = std::vector<int>;

struct WrongFloats {
  Floats in;
  int wrong = 0;
};
FIELDS(WrongFloats, in, wrong);

struct WrongInts {
  Ints in;
  int wrong = 0;
};
FIELDS(WrongInts, in, wrong);

struct WrongMatrices {
  int n = 0;
  Floats a, b;
  int wrong = 0;
};
FIELDS(WrongMatrices, n, a, b, wrong);

namespace {

template <class Input>
using Launch = cudaError_t (*)(const typename decltype(Input::in)::value_type*,
                               typename decltype(Input::in)::value_type*, int, int);

template <class Input, Launch<Input> launch>
decltype(Input::in) run_list(Device& device, const Input& input, std::size_t results) {
  const auto in = device.upload(input.in);
  auto out = device.array<typename decltype(Input::in)::value_type>(results);
  device.check(launch(in.data(), out.data(), static_cast<int>(input.in.size()), input.wrong));
  return out.download();
}

using Matmul = cudaError_t (*)(const float*, const float*, float*, int, int);
template <Matmul matmul>
Floats run_product(Device& device, const WrongMatrices& input) {
  const auto a = device.upload(input.a);
  const auto b = device.upload(input.b);
  auto c = device.array<float>(input.a.size());
  device.check(matmul(a.data(), b.data(), c.data(), input.n, input.wrong));
  return c.download();
}

template <Matmul matmul>
Floats run_right_product(Device& device, const WrongMatrices& input) {
  const auto a = device.upload(input.a);
  const auto b = device.upload(input.b);
  auto c = device.array<float>(input.a.size());
  device.check(matmul(a.data(), b.data(), c.data(), input.n, 0));
  return c.download();
}

template <class T>
T hash_of(const std::vector<T>& in) {
  T hash(0);
  for (const T& x : in) hash = hash * T(31) + x;
  return hash;
}

template <class T>
std::vector<T> product_of(const std::vector<T>& a, const std::vector<T>& b, int n) {
  return reference::matrix_product(a, b, static_cast<std::size_t>(n));
}

}  // namespace

#define LIST_PAIR(name, Input, List, launch, results, reference_of, ...)            \
  KERNEL_PAIR(name, Input, List) = {                                                \
      .arbitrary = [](Draw&) { return Input{}; },                                   \
      .kernel =                                                                     \
          [](Device& device, const Input& input) {                                  \
            return run_list<Input, launch>(device, input, results);                 \
          },                                                                        \
      .reference = [](const Input& input) { return List(reference_of(input.in)); }, \
      .agreement = __VA_ARGS__,                                                     \
      .exact_reference =                                                            \
          [](const Input& input, const ExactData& exact) {                          \
            return std::vector<Exact>(reference_of(exact(input.in)));               \
          },                                                                        \
  }

namespace {
template <class T>
std::vector<T> sum_list(const std::vector<T>& in) {
  return {reference::plain_sum(in)};
}
template <class T>
std::vector<T> hash_list(const std::vector<T>& in) {
  return {hash_of(in)};
}
Ints hash_list(const Ints& in) {
  std::vector<unsigned> values(in.begin(), in.end());
  return {static_cast<int>(hash_of(values))};
}
// Less than the least step of the data that shows a difference.
template <class Count>
auto nearly(Count count) {
  return within_error_bound(
      [count](const auto& input) { return std::vector<double>(count(input), 0.25); });
}
constexpr auto kOne = [](const auto&) -> std::size_t { return 1; };
constexpr auto kOfList = [](const auto& input) { return input.in.size(); };
constexpr auto kOfMatrix = [](const auto& input) { return input.a.size(); };
}  // namespace

LIST_PAIR(wrong_scan, WrongFloats, Floats, ::wrong_scan, input.in.size(), reference::prefix_sums,
          nearly(kOfList));
LIST_PAIR(wrong_sum, WrongFloats, Floats, ::wrong_sum, 1, sum_list, nearly(kOne));
LIST_PAIR(wrong_kahan_sum, WrongFloats, Floats, ::wrong_kahan_sum, 1, sum_list, nearly(kOne));
LIST_PAIR(wrong_hash, WrongInts, Ints, ::wrong_hash, 1, hash_list, exactly());
#define MATRIX_PAIR(name, launch)                                                        \
  KERNEL_PAIR(name, WrongMatrices, Floats) = {                                           \
      .arbitrary = [](Draw&) { return WrongMatrices{}; },                                \
      .kernel = run_product<launch>,                                                     \
      .reference = [](const WrongMatrices& in) { return product_of(in.a, in.b, in.n); }, \
      .agreement = nearly(kOfMatrix),                                                    \
      .exact_reference =                                                                 \
          [](const WrongMatrices& in, const ExactData& exact) {                          \
            return product_of(exact(in.a), exact(in.b), in.n);                           \
          },                                                                             \
  }
MATRIX_PAIR(wrong_matmul, ::wrong_matmul);
MATRIX_PAIR(half_matmul, ::half_matmul);
MATRIX_PAIR(group_matmul, ::group_matmul);
// The reference is a kernel.
KERNEL_PAIR(matmul_as_matmul, WrongMatrices, Floats) = {
    .arbitrary = [](Draw&) { return WrongMatrices{}; },
    .kernel = run_product<::wrong_matmul>,
    .reference = same_as(run_right_product<::wrong_matmul>),
};
KERNEL_PAIR(hash_as_racing, WrongInts, Ints) = {
    .arbitrary = [](Draw&) { return WrongInts{}; },
    .kernel =
        [](Device& device, const WrongInts& input) {
          return run_list<WrongInts, ::wrong_hash>(device, input, 1);
        },
    .reference = same_as([](Device& device, const WrongInts& input) {
      const auto in = device.upload(input.in);
      auto out = device.array<int>(2);  // of which one is not written
      device.check(::wrong_hash(in.data(), out.data(), static_cast<int>(input.in.size()), 0));
      return out.download();
    }),
};

namespace {

// A kernel that is wrong from this size on, or at this size.
struct Wrong {
  int number;
  const char* pair;
  int size;
  bool is_shown;  // an input of small integers shows it
  const char* what;
};
constexpr std::array kWrong{
#include "properties/equality_wrong.def"
};

Case case_of(const std::string& name, int size, int wrong, cudart::Build build) {
  const AnyPair& pair = *Registry::global().find(name);
  Json input{{"wrong", wrong}};
  const auto list = [](int count) {
    Json numbers = Json::array();
    for (int i = 0; i < count; ++i) numbers.push_back(i % 7 + 1);
    return numbers;
  };
  if (name.ends_with("matmul")) {
    input["n"] = size;
    input["a"] = input["b"] = list(size * size);
  } else {
    input["in"] = list(size);
  }
  return {.pair = &pair,
          .property = {},
          .input = pair.from_json(input),
          .schedule = vgpu::Schedule{},
          .settings = {.build = build},
          .tape = {}};
}

class WrongFunctions : public testing::TestWithParam<cudart::Build> {};

TEST_P(WrongFunctions, AreRefusedAtTheFirstSizeAtWhichTheyAreWrong) {
  EXPECT_EQ(kWrong.size(), 60u);
  for (const Wrong& wrong : kWrong) {
    SCOPED_TRACE(std::to_string(wrong.number) + ": " + wrong.what);
    const EqualityCertificate certificate =
        certify_equality(case_of(wrong.pair, wrong.size, wrong.number, GetParam()));
    EXPECT_EQ(certificate.equality, Equality::different) << certificate.reason;
    EXPECT_EQ(certificate.counterexample.has_value(), wrong.is_shown);
    if (wrong.size == 0) continue;
    const EqualityCertificate before =
        certify_equality(case_of(wrong.pair, wrong.size - 1, wrong.number, GetParam()));
    EXPECT_EQ(before.equality, Equality::equal) << before.reason;
  }
}

TEST_P(WrongFunctions, HaveCorrectTwins) {
  for (const char* pair :
       {"wrong_scan", "wrong_sum", "wrong_kahan_sum", "wrong_matmul", "wrong_hash"}) {
    for (const int size : {0, 1, 2, 5, 8, 16}) {
      const EqualityCertificate certificate = certify_equality(case_of(pair, size, 0, GetParam()));
      EXPECT_EQ(certificate.equality, Equality::equal) << pair << " " << certificate.reason;
      EXPECT_LE(certificate.error_exponent, -40);
    }
  }
}

TEST_P(WrongFunctions, OfHalvesAreSeenOnTensorCores) {
  const EqualityCertificate right = certify_equality(case_of("half_matmul", 16, 0, GetParam()));
  EXPECT_EQ(right.equality, Equality::equal) << right.reason;
  const EqualityCertificate wrong = certify_equality(case_of("half_matmul", 16, 1, GetParam()));
  EXPECT_EQ(wrong.equality, Equality::different) << wrong.reason;
  EXPECT_TRUE(wrong.counterexample);
}

// Whether a row has a number decides a branch, so that less than all data is proved.  An infinity
// is no number of exact arithmetic: another input of the size takes its place.
TEST(FiniteData, DecidesNoBranchOfASoftmax) {
  for (const char* const name : {"softmax_three_pass", "softmax_online"}) {
    for (const Json& row : {Json{1, 2, 0.5, 3}, Json{1, 2, 0.5, "-inf"}}) {
      for (const cudart::Build build : {cudart::Build::optimized, cudart::Build::unoptimized}) {
        const AnyPair& pair = *Registry::global().find(name);
        const Certificate certificate = Certifier().certify(
            {.pair = &pair,
             .property = {},
             .input = pair.from_json({{"columns", 4}, {"in", row}, {"block", 3}}),
             .schedule = vgpu::Schedule{},
             .settings = {.build = build},
             .tape = {}});
        EXPECT_EQ(certificate.proof, Proof::every_schedule) << name;
        EXPECT_EQ(certificate.equality, Equality::equal) << name << certificate.unequal;
      }
    }
  }
}

TEST(KernelsAsReferences, AreComparedForAllData) {
  constexpr cudart::Build kBuild = cudart::Build::optimized;
  for (const int size : {0, 1, 2, 5}) {
    const Case a_case = case_of("matmul_as_matmul", size, 0, kBuild);
    const Certificate right = Certifier().certify(a_case);
    EXPECT_EQ(right.equality, Equality::equal) << right.unequal;
    EXPECT_TRUE(right.verdict.findings.empty());
  }
  const Certificate wrong = Certifier().certify(case_of("matmul_as_matmul", 2, 40, kBuild));
  EXPECT_EQ(wrong.equality, Equality::none);
  EXPECT_EQ(wrong.proof, Proof::failed);
  EXPECT_EQ(certify_equality(case_of("matmul_as_matmul", 2, 40, kBuild)).equality,
            Equality::different);
  // 10^-18 too much shows in no trial.
  const Certificate nearly = Certifier().certify(case_of("matmul_as_matmul", 1, 49, kBuild));
  EXPECT_EQ(nearly.equality, Equality::different) << nearly.unequal;
}

TEST(KernelsAsReferences, AreClean) {
  const Verdict verdict =
      TrialRunner().run(case_of("hash_as_racing", 3, 0, cudart::Build::optimized));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].kind, vgpu::FindingKind::mismatch);
  EXPECT_NE(verdict.findings[0].message.find("the reference is not clean: uninitialized-read"),
            std::string::npos)
      << verdict.findings[0].message;
}

// Products of a warpgroup, whose factors are in shared memory: of f16, bf16 and tf32.
TEST(WrongFunctionsOfWarpgroups, AreSeenInEveryType) {
  constexpr int kTypes = 3, kWrongs = 6, kSide = 64;
  const auto certify = [](int wrong) {
    return certify_equality(case_of("group_matmul", kSide, wrong, cudart::Build::optimized));
  };
  for (int type = 0; type < kTypes; ++type) {
    const EqualityCertificate right = certify(10 * type);
    EXPECT_EQ(right.equality, Equality::equal) << "type " << type << ": " << right.reason;
    for (int wrong = 1; wrong <= kWrongs; ++wrong) {
      if ((wrong + type) % kTypes != 0) continue;  // each in one type
      const EqualityCertificate other = certify(10 * type + wrong);
      EXPECT_EQ(other.equality, Equality::different)
          << "type " << type << ", wrong " << wrong << ": " << other.reason;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, WrongFunctions,
                         testing::Values(cudart::Build::optimized, cudart::Build::unoptimized));

// Prints the lines of equality_wrong.def: the first size at which each is refused.
TEST(WrongFunctionsTable, DISABLED_IsPrinted) {
  for (int number = 1; number <= 60; ++number) {
    const char* const pair = number <= 16   ? "wrong_scan"
                             : number <= 30 ? "wrong_sum"
                             : number <= 38 ? "wrong_kahan_sum"
                             : number <= 50 ? "wrong_matmul"
                                            : "wrong_hash";
    const int most = number <= 16 ? kWrongBlock : number <= 38 ? 140 : 20;
    int size = 0;
    EqualityCertificate certificate;
    for (; size <= most; ++size) {
      certificate = certify_equality(case_of(pair, size, number, cudart::Build::optimized));
      if (certificate.equality != Equality::equal) break;
    }
    std::printf("    Wrong{%d, \"%s\", %d, %s, \"%s\"},\n", number, pair, size,
                certificate.counterexample ? "true" : "false", certificate.reason.c_str());
  }
}

}  // namespace
}  // namespace warpcheck
