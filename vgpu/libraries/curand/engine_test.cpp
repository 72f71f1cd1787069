// Sequences, compared with those of the toolkit's own library, whose host generators need no GPU,
// and with known properties of their distributions.
#include "vgpu/libraries/curand/engine.hpp"

#include <curand.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace warpcheck::libraries::random {
namespace {

constexpr std::uint64_t kSeed = 0x123456789abcU;
enum class Kind { bits, long_bits, uniform, uniform_double, normal, normal_double, poisson };

struct Request {
  Kind kind = Kind::bits;
  std::size_t count = 0;
  double lambda = 0;
};

template <class T>
std::vector<double> as_doubles(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

std::vector<double> ask(Engine& engine, const Request& request) {
  std::vector<std::uint32_t> bits(request.count);
  std::vector<std::uint64_t> long_bits(request.count);
  std::vector<float> floats(request.count);
  std::vector<double> doubles(request.count);
  switch (request.kind) {
    case Kind::bits: return engine.bits(bits), as_doubles(bits);
    case Kind::long_bits: return engine.long_bits(long_bits), as_doubles(long_bits);
    case Kind::uniform: return engine.uniform(floats), as_doubles(floats);
    case Kind::uniform_double: return engine.uniform(doubles), doubles;
    case Kind::normal: return engine.normal(floats), as_doubles(floats);
    case Kind::normal_double: return engine.normal(doubles), doubles;
    default: return engine.poisson(bits, request.lambda), as_doubles(bits);
  }
}

// The toolkit's library, if it is installed.
class Toolkit {
 public:
  Toolkit() : library_(dlopen(WARPCHECK_TOOLKIT_LIBRARIES "/libcurand.so.10", RTLD_NOW)) {}
  [[nodiscard]] bool is_there() const { return library_ != nullptr; }

  curandGenerator_t create(const EngineSettings& settings) {
    curandGenerator_t generator = nullptr;
    call<decltype(&curandCreateGeneratorHost)>("curandCreateGeneratorHost", &generator,
                                               settings.type);
    if (settings.type < CURAND_RNG_QUASI_DEFAULT) {
      call<decltype(&curandSetPseudoRandomGeneratorSeed)>("curandSetPseudoRandomGeneratorSeed",
                                                          generator, settings.seed);
      call<decltype(&curandSetGeneratorOrdering)>("curandSetGeneratorOrdering", generator,
                                                  settings.ordering);
    } else {
      call<decltype(&curandSetQuasiRandomGeneratorDimensions)>(
          "curandSetQuasiRandomGeneratorDimensions", generator, settings.dimensions);
    }
    if (settings.offset != 0) {
      call<decltype(&curandSetGeneratorOffset)>("curandSetGeneratorOffset", generator,
                                                settings.offset);
    }
    return generator;
  }

  std::vector<double> ask(curandGenerator_t generator, const Request& request) {
    std::vector<std::uint32_t> bits(request.count);
    std::vector<unsigned long long> long_bits(request.count);
    std::vector<float> floats(request.count);
    std::vector<double> doubles(request.count);
    const std::size_t count = request.count;
    switch (request.kind) {
      case Kind::bits:
        call<decltype(&curandGenerate)>("curandGenerate", generator, bits.data(), count);
        return as_doubles(bits);
      case Kind::long_bits:
        call<decltype(&curandGenerateLongLong)>("curandGenerateLongLong", generator,
                                                long_bits.data(), count);
        return as_doubles(long_bits);
      case Kind::uniform:
        call<decltype(&curandGenerateUniform)>("curandGenerateUniform", generator, floats.data(),
                                               count);
        return as_doubles(floats);
      case Kind::uniform_double:
        call<decltype(&curandGenerateUniformDouble)>("curandGenerateUniformDouble", generator,
                                                     doubles.data(), count);
        return doubles;
      case Kind::normal:
        call<decltype(&curandGenerateNormal)>("curandGenerateNormal", generator, floats.data(),
                                              count, 0.0F, 1.0F);
        return as_doubles(floats);
      case Kind::normal_double:
        call<decltype(&curandGenerateNormalDouble)>("curandGenerateNormalDouble", generator,
                                                    doubles.data(), count, 0.0, 1.0);
        return doubles;
      default:
        call<decltype(&curandGeneratePoisson)>("curandGeneratePoisson", generator, bits.data(),
                                               count, request.lambda);
        return as_doubles(bits);
    }
  }

 private:
  template <class Function, class... Arguments>
  void call(const char* name, Arguments... arguments) {
    const auto function = reinterpret_cast<Function>(dlsym(library_, name));
    ASSERT_EQ(function(arguments...), CURAND_STATUS_SUCCESS) << name;
  }

  void* library_;
};

// Tolerances are needed because the toolkit uses sine and logarithm of the host's libm.
double tolerance_of(Kind kind) {
  if (kind == Kind::normal) return 4e-6;
  return kind == Kind::normal_double ? 1e-13 : 0;
}

class SameAsToolkit : public testing::Test {
 protected:
  void SetUp() override {
    if (!toolkit_.is_there()) GTEST_SKIP() << "no libcurand.so.10 in the toolkit";
  }
  void expect_same(const EngineSettings& settings, const std::vector<Request>& requests) {
    const auto engine = make_engine(settings);
    curandGenerator_t const generator = toolkit_.create(settings);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::vector<double> ours = ask(*engine, requests[i]);
      const std::vector<double> theirs = toolkit_.ask(generator, requests[i]);
      const double tolerance = tolerance_of(requests[i].kind);
      for (std::size_t k = 0; k < ours.size(); ++k) {
        ASSERT_LE(std::fabs(ours[k] - theirs[k]), tolerance * std::fmax(1, std::fabs(theirs[k])))
            << "type " << settings.type << ", request " << i << ", value " << k << ": " << ours[k]
            << ", the toolkit's " << theirs[k];
      }
    }
  }

  Toolkit toolkit_;
};

// Requests of every kind, with odd counts where they are allowed, so that each kind begins at the
// position where another ended.
std::vector<Request> mixed(std::size_t many) {
  return {{Kind::bits, 5},           {Kind::uniform, 7},        {Kind::normal, 8},
          {Kind::uniform_double, 3}, {Kind::normal_double, 6},  {Kind::bits, many},
          {Kind::uniform, many},     {Kind::normal, many},      {Kind::normal_double, many},
          {Kind::bits, 11},          {Kind::uniform_double, 9}, {Kind::bits, 4}};
}

TEST_F(SameAsToolkit, Xorwow) {
  expect_same({.type = CURAND_RNG_PSEUDO_XORWOW, .seed = kSeed}, mixed(10000));
  expect_same({.type = CURAND_RNG_PSEUDO_XORWOW, .seed = kSeed, .offset = 123457}, mixed(10));
  expect_same({.type = CURAND_RNG_PSEUDO_DEFAULT}, mixed(10));
}

TEST_F(SameAsToolkit, Mrg32k3a) {
  expect_same({.type = CURAND_RNG_PSEUDO_MRG32K3A, .seed = kSeed},
              {{Kind::normal, 8}, {Kind::uniform_double, 82000}, {Kind::bits, 10}});
  expect_same({.type = CURAND_RNG_PSEUDO_MRG32K3A, .seed = kSeed, .offset = 200001}, mixed(10));
  expect_same({.type = CURAND_RNG_PSEUDO_MRG32K3A,
               .ordering = CURAND_ORDERING_PSEUDO_LEGACY,
               .seed = kSeed,
               .offset = 9001},
              mixed(5000));
}

TEST_F(SameAsToolkit, Philox) {
  const EngineSettings settings{.type = CURAND_RNG_PSEUDO_PHILOX4_32_10, .seed = kSeed};
  for (const Kind kind :
       {Kind::bits, Kind::uniform, Kind::uniform_double, Kind::normal, Kind::normal_double}) {
    expect_same(settings, {{kind, 3}, {kind, 270000}, {kind, 5}});
  }
  expect_same(settings, mixed(10000));
  EngineSettings later = settings;
  later.offset = 4 * 65536 * 3 + 4 * 77 + 2;
  expect_same(later, mixed(10));
}

TEST_F(SameAsToolkit, Mtgp32) {
  // Normal values in double precision are left out: the toolkit computes them from numbers in
  // single precision.
  const std::vector<Request> requests{
      {Kind::bits, 5},        {Kind::uniform, 7},         {Kind::normal, 9},
      {Kind::bits, 60000},    {Kind::uniform_double, 3},  {Kind::poisson, 1000, 63},
      {Kind::uniform, 20000}, {Kind::poisson, 1000, 700}, {Kind::poisson, 1000, 2000}};
  expect_same({.type = CURAND_RNG_PSEUDO_MTGP32, .seed = kSeed}, requests);
  expect_same(
      {.type = CURAND_RNG_PSEUDO_MTGP32, .ordering = CURAND_ORDERING_PSEUDO_LEGACY, .seed = kSeed},
      requests);
}

TEST_F(SameAsToolkit, Sobol) {
  for (const std::uint32_t dimensions : {1U, 3U, 20000U}) {
    const std::vector<Request> bits{{Kind::bits, dimensions * 4}, {Kind::bits, dimensions}};
    expect_same({.type = CURAND_RNG_QUASI_SOBOL32, .dimensions = dimensions}, bits);
    const std::vector<Request> longs{{Kind::long_bits, dimensions * 4},
                                     {Kind::long_bits, dimensions}};
    expect_same({.type = CURAND_RNG_QUASI_SOBOL64, .dimensions = dimensions}, longs);
  }
  const std::vector<Request> all{{Kind::uniform, 30},      {Kind::uniform_double, 30},
                                 {Kind::normal, 33},       {Kind::normal_double, 60},
                                 {Kind::poisson, 300, 63}, {Kind::poisson, 300, 700}};
  for (const auto type : {CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SOBOL64}) {
    expect_same({.type = type, .dimensions = 3}, {{Kind::uniform, 30}, {Kind::normal, 33}});
    expect_same({.type = type, .offset = 1001, .dimensions = 3}, all);
  }
}

constexpr curandRngType_t kTypes[] = {
    CURAND_RNG_PSEUDO_XORWOW,           CURAND_RNG_PSEUDO_MRG32K3A,
    CURAND_RNG_PSEUDO_PHILOX4_32_10,    CURAND_RNG_PSEUDO_MTGP32,
    CURAND_RNG_PSEUDO_MT19937,          CURAND_RNG_QUASI_SOBOL32,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, CURAND_RNG_QUASI_SOBOL64,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL64};

struct Moments {
  double mean = 0, variance = 0, least = 0, most = 0;
};

Moments moments_of(const std::vector<double>& values) {
  Moments moments{.least = values[0], .most = values[0]};
  for (const double value : values) moments.mean += value / static_cast<double>(values.size());
  for (const double value : values) {
    moments.variance +=
        (value - moments.mean) * (value - moments.mean) / static_cast<double>(values.size());
    moments.least = std::fmin(moments.least, value);
    moments.most = std::fmax(moments.most, value);
  }
  return moments;
}

// The tolerance is five standard errors of 20,000 independent values.  The seeds are fixed, so the
// test always gives the same result.
TEST(Distributions, HaveTheirMoments) {
  constexpr std::size_t kCount = 20000;
  for (const curandRngType_t type : kTypes) {
    SCOPED_TRACE(type);
    const auto engine = make_engine({.type = type, .seed = 99, .offset = 1});
    for (const Kind kind : {Kind::uniform, Kind::uniform_double}) {
      const Moments moments = moments_of(ask(*engine, {kind, kCount}));
      EXPECT_NEAR(moments.mean, 0.5, 0.0102);
      EXPECT_NEAR(moments.variance, 1.0 / 12, 0.0027);
      EXPECT_GT(moments.least, 0);
      EXPECT_LE(moments.most, 1);
      EXPECT_LT(moments.least, 0.001);
      EXPECT_GT(moments.most, 0.999);
    }
    for (const Kind kind : {Kind::normal, Kind::normal_double}) {
      const Moments moments = moments_of(ask(*engine, {kind, kCount}));
      EXPECT_NEAR(moments.mean, 0, 0.036);
      EXPECT_NEAR(moments.variance, 1, 0.05);
      EXPECT_GT(moments.most, 3);
    }
    for (const double lambda : {0.5, 10.0, 600.0, 5000.0}) {
      const Moments moments = moments_of(ask(*engine, {Kind::poisson, kCount, lambda}));
      EXPECT_NEAR(moments.mean, lambda, 0.036 * std::sqrt(lambda)) << lambda;
      EXPECT_NEAR(moments.variance / lambda, 1, 0.09) << lambda;
    }
  }
}

TEST(Distributions, OfOneSeedAreTheSameAgain) {
  for (const curandRngType_t type : kTypes) {
    const EngineSettings settings{.type = type, .seed = 5};
    const auto a = make_engine(settings);
    const auto b = make_engine(settings);
    EXPECT_EQ(ask(*a, {Kind::uniform, 500}), ask(*b, {Kind::uniform, 500})) << type;
  }
}

// Scrambling preserves the property of a Sobol sequence: of 2^k values, each interval of length
// 2^-k has one.
TEST(ScrambledSobol, PutsOneValueIntoEachInterval) {
  for (const std::uint32_t dimension : {0U, 1U, 7U}) {
    const auto engine =
        make_engine({.type = CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, .dimensions = dimension + 1});
    const auto all = ask(*engine, {Kind::bits, 256 * (std::size_t{dimension} + 1)});
    std::vector<int> hits(256);
    for (std::size_t i = 0; i < 256; ++i) {
      ++hits[static_cast<std::uint32_t>(all[dimension * 256 + i]) >> 24];
    }
    EXPECT_EQ(hits, std::vector<int>(256, 1)) << dimension;
  }
}

}  // namespace
}  // namespace warpcheck::libraries::random
