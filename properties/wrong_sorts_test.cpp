// The certificate of equality for comparison networks: those that sort are certified, and wrong
// ones (kernels/specimens/planted/wrong_sorts.hpp) are not.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/input/json.hpp"
#include "harness/pair/pair.hpp"
#include "harness/prove/certificate.hpp"
#include "harness/prove/equality.hpp"
#include "kernels/specimens/planted/wrong_sorts.hpp"
#include "reference/sort.hpp"

namespace warpcheck {

template <class T>
struct WrongSort {
  std::vector<T> in;
  int wrong = 0;
};
using WrongIntSort = WrongSort<int>;
using WrongFloatSort = WrongSort<float>;
using WrongWordSort = WrongSort<std::uint32_t>;
FIELDS(WrongIntSort, in, wrong);
FIELDS(WrongFloatSort, in, wrong);
FIELDS(WrongWordSort, in, wrong);

struct WrongChoice {
  std::vector<int> in;
  int wrong = 0;
  bool chooses = true;
};
FIELDS(WrongChoice, in, wrong, chooses);

namespace {

template <class Input>
using Element = typename decltype(Input::in)::value_type;
template <class Input>
using SortLaunch = cudaError_t (*)(const Element<Input>*, Element<Input>*, int, int);

template <class Input, SortLaunch<Input> launch>
decltype(Input::in) sort_list(Device& device, const Input& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<Element<Input>>(input.in.size());
  device.check(launch(in.data(), out.data(), static_cast<int>(input.in.size()), input.wrong));
  return out.download();
}

std::vector<int> run_median(Device& device, const WrongIntSort& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<int>(1);
  device.check(wrong_median(in.data(), out.data(), static_cast<int>(input.in.size()), input.wrong));
  return out.download();
}

std::vector<int> run_choice(Device& device, const WrongChoice& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<int>(input.in.size() - 1);
  device.check(wrong_choice(in.data(), out.data(), static_cast<int>(input.in.size()), input.wrong,
                            input.chooses));
  return out.download();
}

template <class T>
std::vector<T> choices(const std::vector<T>& in, bool chooses) {
  using std::max;
  std::vector<T> out;
  for (std::size_t i = 0; i + 1 < in.size(); ++i)
    out.push_back(chooses ? max(in[i], in[i + 1]) : in[i + 1]);
  return out;
}

}  // namespace

#define SORT_PAIR(name, Input, launch)                                                   \
  KERNEL_PAIR(name, Input, decltype(Input::in)) = {                                      \
      .arbitrary = [](Draw&) { return Input{}; },                                        \
      .kernel = sort_list<Input, launch>,                                                \
      .reference = [](const Input& input) { return reference::radix_sort(input.in); },   \
      .exact_reference = [](const Input& input,                                          \
                            const ExactData& exact) { return sorted(exact(input.in)); }, \
  }
SORT_PAIR(wrong_bitonic_sort, WrongIntSort, ::wrong_bitonic_sort);
SORT_PAIR(wrong_merge_sort, WrongWordSort, ::wrong_merge_sort);
SORT_PAIR(wrong_warp_sort, WrongFloatSort, ::wrong_warp_sort);
KERNEL_PAIR(wrong_median, WrongIntSort, std::vector<int>) = {
    .arbitrary = [](Draw&) { return WrongIntSort{}; },
    .kernel = run_median,
    .reference =
        [](const WrongIntSort& input) { return std::vector{reference::radix_sort(input.in)[1]}; },
    .exact_reference =
        [](const WrongIntSort& input, const ExactData& exact) {
          return std::vector{sorted(exact(input.in))[1]};
        },
};
KERNEL_PAIR(wrong_choice, WrongChoice, std::vector<int>) = {
    .arbitrary = [](Draw&) { return WrongChoice{}; },
    .kernel = run_choice,
    .reference = [](const WrongChoice& input) { return choices(input.in, input.chooses); },
    .exact_reference =
        [](const WrongChoice& input, const ExactData& exact) {
          return choices(exact(input.in), input.chooses);
        },
};

namespace {

constexpr auto kOptimized = cudart::Build::optimized, kUnoptimized = cudart::Build::unoptimized;

EqualityCertificate certificate_of(const std::string& name, int size, int wrong,
                                   cudart::Build build, Json more = Json::object()) {
  const AnyPair& pair = *Registry::global().find(name);
  Json input = std::move(more);
  input["wrong"] = wrong;
  input["in"] = Json::array();
  for (int i = 0; i < size; ++i) input["in"].push_back(i * 7 % 11 + 1);
  return certify_equality({.pair = &pair,
                           .property = {},
                           .input = pair.from_json(input),
                           .schedule = vgpu::Schedule{},
                           .settings = {.build = build},
                           .tape = {}});
}

struct WrongNetwork {
  int number;
  const char* pair;
  int size;       // the first at which it is wrong
  bool is_shown;  // by zeros and ones, or small integers
  const char* what;
};
constexpr std::array kWrongNetworks{
    WrongNetwork{1, "wrong_bitonic_sort", 3, true, "zeros for what is missing"},
    WrongNetwork{2, "wrong_bitonic_sort", 2, true, "no last merge"},
    WrongNetwork{3, "wrong_bitonic_sort", 2, true, "no first merge"},
    WrongNetwork{4, "wrong_bitonic_sort", 5, true, "one step of a merge is left out"},
    WrongNetwork{5, "wrong_bitonic_sort", 7, true,
                 "two comparisons are with each other's elements"},
    WrongNetwork{6, "wrong_bitonic_sort", 5, true, "one comparison loses the lesser"},
    WrongNetwork{7, "wrong_bitonic_sort", 5, true, "one pair is in the other order"},
    WrongNetwork{8, "wrong_bitonic_sort", 2, true, "in descending order"},
    WrongNetwork{9, "wrong_bitonic_sort", 37, true, "one comparison is left out, only for n = 37"},
    WrongNetwork{10, "wrong_bitonic_sort", 3, true, "sorted, and stored in another order"},
    WrongNetwork{11, "wrong_merge_sort", 9, true, "one merge ends one step early"},
    WrongNetwork{12, "wrong_merge_sort", 3, true, "the steps of a merge compare other pairs"},
    WrongNetwork{13, "wrong_merge_sort", 13, true, "one comparison is left out, only for n = 13"},
    WrongNetwork{14, "wrong_merge_sort", 2, false, "signed comparisons of unsigned numbers"},
    WrongNetwork{15, "wrong_merge_sort", 5, true, "one merge is in the other order"},
    WrongNetwork{16, "wrong_warp_sort", 9, true, "one step shuffles from another lane"},
    WrongNetwork{17, "wrong_warp_sort", 9, true, "the last merge has another order"},
    WrongNetwork{18, "wrong_warp_sort", 17, true, "one lane keeps its number"},
    WrongNetwork{19, "wrong_warp_sort", 4, false, "one number counts by its absolute value"},
};

TEST(WrongSorts, AreRefusedAtTheFirstSizeAtWhichTheyAreWrong) {
  for (const WrongNetwork& wrong : kWrongNetworks) {
    SCOPED_TRACE(std::to_string(wrong.number) + ": " + wrong.what);
    int size = 0;
    EqualityCertificate certificate;
    for (; size <= 37; ++size) {
      certificate = certificate_of(wrong.pair, size, wrong.number, kOptimized);
      if (certificate.equality != Equality::equal) break;
    }
    EXPECT_EQ(size, wrong.size);
    EXPECT_EQ(certificate.equality, wrong.is_shown ? Equality::different : Equality::unknown)
        << certificate.reason;
    EXPECT_EQ(certificate.counterexample.has_value(), wrong.is_shown) << certificate.reason;
  }
}

TEST(WrongSorts, HaveCorrectTwins) {
  for (const int size : {0, 1, 2, 3, 5, 8, 17, 31, 32, 64}) {
    for (const cudart::Build build : {kOptimized, kUnoptimized}) {
      EXPECT_EQ(certificate_of("wrong_bitonic_sort", size, 0, build).equality, Equality::equal);
      if (size <= 32) {
        EXPECT_EQ(certificate_of("wrong_warp_sort", size, 0, build).equality, Equality::equal);
      }
    }
    const EqualityCertificate merges = certificate_of("wrong_merge_sort", size, 0, kOptimized);
    EXPECT_EQ(merges.equality, Equality::equal) << merges.reason;
  }
}

TEST(WrongSorts, AMedianIsOneWhateverItsFormula) {
  EXPECT_EQ(certificate_of("wrong_median", 3, 0, kOptimized).equality, Equality::equal);
  EXPECT_EQ(certificate_of("wrong_median", 3, 20, kOptimized).equality, Equality::different);
}

// A comparison and a known condition together are a comparison, or known.
TEST(WrongSorts, AConditionIsNotForgotten) {
  for (const bool chooses : {true, false}) {
    const Json more{{"chooses", chooses}};
    const EqualityCertificate right = certificate_of("wrong_choice", 5, 0, kOptimized, more);
    EXPECT_EQ(right.equality, Equality::equal) << right.reason;
    EXPECT_EQ(certificate_of("wrong_choice", 5, 21, kOptimized, more).equality,
              Equality::different);
  }
}

}  // namespace
}  // namespace warpcheck
