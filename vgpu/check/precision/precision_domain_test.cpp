// Kernels of floats, computed three times: in float, by the domain, and by MPFR with 400 bits.  The
// error that the domain says must be the one that MPFR says.
#include "vgpu/check/precision/precision_domain.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;

class Exact {
 public:
  Exact() { mpfr_init2(value_, 400); }
  Exact(const Exact& other) : Exact() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Exact& operator=(const Exact& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Exact() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }
  [[nodiscard]] mpfr_srcptr get() const { return value_; }

 private:
  mpfr_t value_;
};

// A number of a kernel, in all three ways.
struct Number {
  float computed = 0;
  PrecisionDomain::Value value{};
  Exact exact;
};

class Machine {
 public:
  Machine() {
    program_.code.resize(1);
    program_.sources.resize(1);
  }

  static Number number(float x) {
    Number made{.computed = x,
                .value = *PrecisionDomain::constant(std::bit_cast<std::uint32_t>(x), Type::f32),
                .exact = {}};
    mpfr_set_flt(made.exact.get(), x, MPFR_RNDN);
    return made;
  }
  Number add(const Number& a, const Number& b) {
    Number made = begin(Opcode::add_, a.computed + b.computed, {&a, &b});
    mpfr_add(made.exact.get(), a.exact.get(), b.exact.get(), MPFR_RNDN);
    return made;
  }
  Number sub(const Number& a, const Number& b) {
    Number made = begin(Opcode::sub_, a.computed - b.computed, {&a, &b});
    mpfr_sub(made.exact.get(), a.exact.get(), b.exact.get(), MPFR_RNDN);
    return made;
  }
  Number mul(const Number& a, const Number& b) {
    Number made = begin(Opcode::mul_, a.computed * b.computed, {&a, &b});
    mpfr_mul(made.exact.get(), a.exact.get(), b.exact.get(), MPFR_RNDN);
    return made;
  }
  Number div(const Number& a, const Number& b) {
    Number made = begin(Opcode::div_, a.computed / b.computed, {&a, &b});
    mpfr_div(made.exact.get(), a.exact.get(), b.exact.get(), MPFR_RNDN);
    return made;
  }
  Number fma(const Number& a, const Number& b, const Number& c) {
    Number made = begin(Opcode::fma_, std::fma(a.computed, b.computed, c.computed), {&a, &b, &c});
    mpfr_fma(made.exact.get(), a.exact.get(), b.exact.get(), c.exact.get(), MPFR_RNDN);
    return made;
  }
  Number sqrt(const Number& a) {
    Number made = begin(Opcode::sqrt_, std::sqrt(a.computed), {&a});
    mpfr_sqrt(made.exact.get(), a.exact.get(), MPFR_RNDN);
    return made;
  }
  Number exp2(const Number& a) {
    Number made = begin(Opcode::ex2_, std::exp2(a.computed), {&a});
    mpfr_exp2(made.exact.get(), a.exact.get(), MPFR_RNDN);
    return made;
  }
  Number log2(const Number& a) {
    Number made = begin(Opcode::lg2_, std::log2(a.computed), {&a});
    mpfr_log2(made.exact.get(), a.exact.get(), MPFR_RNDN);
    return made;
  }

 private:
  Number begin(Opcode opcode, float computed, std::initializer_list<const Number*> sources) {
    std::vector<ShadowOperand<PrecisionDomain::Value>> operands;
    for (const Number* const one : sources) {
      operands.push_back({.is_plain = false,
                          .value = one->value,
                          .bits = std::bit_cast<std::uint32_t>(one->computed)});
    }
    const ShadowOperation operation{opcode, &modifiers_, Type::f32, Type::f32};
    const std::uint64_t bits = std::bit_cast<std::uint32_t>(computed);
    const auto value = domain_.apply({&program_, 0, {}, 0}, operation, operands, &bits);
    EXPECT_TRUE(value) << ptx::name_of(opcode);
    return {.computed = computed, .value = *value, .exact = {}};
  }

  Program program_;
  ptx::Modifiers modifiers_;
  Reporter reporter_;
  PrecisionDomain domain_{reporter_};
};

using Numbers = std::vector<Number>;
struct Kernel {
  std::string name;
  std::function<Number(Machine&, const Numbers&)> run;
};

Number sum_of(Machine& m, const Numbers& x) {
  Number sum = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) sum = m.add(sum, x[i]);
  return sum;
}
Number mean_of(Machine& m, const Numbers& x) {
  return m.div(sum_of(m, x), Machine::number(static_cast<float>(x.size())));
}
Number squares_of(Machine& m, const Numbers& x) {
  Number sum = m.mul(x[0], x[0]);
  for (std::size_t i = 1; i < x.size(); ++i) sum = m.fma(x[i], x[i], sum);
  return sum;
}
Number variance_of(Machine& m, const Numbers& x) {
  const Number mean = mean_of(m, x);
  Numbers distances;
  for (const Number& one : x) distances.push_back(m.sub(one, mean));
  return m.div(squares_of(m, distances), Machine::number(static_cast<float>(x.size())));
}
Numbers exponentials_of(Machine& m, const Numbers& x, const Number& most) {
  Numbers all;
  for (const Number& one : x) all.push_back(m.exp2(m.sub(one, most)));
  return all;
}
Number pairwise(Machine& m, const Numbers& x, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return x[begin];
  const std::size_t middle = (begin + end) / 2;
  return m.add(pairwise(m, x, begin, middle), pairwise(m, x, middle, end));
}
Number compensated(Machine& m, const Numbers& x) {
  Number sum = Machine::number(0), lost = sum;
  for (const Number& one : x) {
    const Number term = m.sub(one, lost), next = m.add(sum, term);
    lost = m.sub(m.sub(next, sum), term);
    sum = next;
  }
  return sum;
}
Number horner(Machine& m, const Numbers& x, const Number& at) {
  Number value = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) value = m.fma(value, at, x[i]);
  return value;
}

std::vector<Kernel> kernels() {
  const auto n = [](float x) { return Machine::number(x); };
  return {
      {"sum", sum_of},
      {"pairwise sum", [](Machine& m, const Numbers& x) { return pairwise(m, x, 0, x.size()); }},
      {"compensated sum", compensated},
      {"mean", mean_of},
      {"squares", squares_of},
      {"norm", [](Machine& m, const Numbers& x) { return m.sqrt(squares_of(m, x)); }},
      {"variance", variance_of},
      {"moments",
       [](Machine& m, const Numbers& x) {
         const Number mean = mean_of(m, x);
         const Number squares =
             m.div(squares_of(m, x), Machine::number(static_cast<float>(x.size())));
         return m.sub(squares, m.mul(mean, mean));
       }},
      {"normalised",
       [n](Machine& m, const Numbers& x) {
         const Number deviation = m.sqrt(m.add(variance_of(m, x), n(1e-5f)));
         return m.div(m.sub(x[0], mean_of(m, x)), deviation);
       }},
      {"softmax",
       [](Machine& m, const Numbers& x) {
         const Numbers e = exponentials_of(m, x, x[0]);
         return m.div(e[1], sum_of(m, e));
       }},
      {"logarithm of a sum",
       [](Machine& m, const Numbers& x) {
         return m.add(x[0], m.log2(sum_of(m, exponentials_of(m, x, x[0]))));
       }},
      {"logistic",
       [n](Machine& m, const Numbers& x) {
         return m.div(n(1), m.add(n(1), m.exp2(m.sub(n(0), x[0]))));
       }},
      {"polynomial",
       [](Machine& m, const Numbers& x) {
         return horner(m, x, m.div(x[0], Machine::number(256)));
       }},
      {"geometric mean",
       [n](Machine& m, const Numbers& x) {
         Number sum = n(0);
         for (const Number& one : x) sum = m.add(sum, m.log2(m.add(n(1), m.mul(one, one))));
         return m.exp2(m.div(sum, n(static_cast<float>(x.size()))));
       }},
      {"harmonic sum",
       [n](Machine& m, const Numbers& x) {
         Number sum = n(0);
         for (const Number& one : x) sum = m.add(sum, m.div(n(1), m.add(n(300), one)));
         return sum;
       }},
      {"determinant",
       [](Machine& m, const Numbers& x) { return m.sub(m.mul(x[0], x[3]), m.mul(x[1], x[2])); }},
      {"fused determinant",
       [n](Machine& m, const Numbers& x) {
         return m.fma(x[0], x[3], m.sub(n(0), m.mul(x[1], x[2])));
       }},
      {"root of a quadratic",
       [n](Machine& m, const Numbers& x) {
         const Number b = m.add(n(500), x[0]);
         return m.sub(b, m.sqrt(m.sub(m.mul(b, b), n(1))));
       }},
      {"Newton's root",
       [n](Machine& m, const Numbers& x) {
         const Number a = m.add(n(1), m.mul(x[0], x[0]));
         Number root = a;
         for (int i = 0; i < 8; ++i) root = m.mul(n(0.5f), m.add(root, m.div(a, root)));
         return root;
       }},
      {"alternating sum",
       [](Machine& m, const Numbers& x) {
         Number sum = x[0];
         for (std::size_t i = 1; i < x.size(); ++i)
           sum = i % 2 == 0 ? m.add(sum, x[i]) : m.sub(sum, x[i]);
         return sum;
       }},
  };
}

TEST(PrecisionDomain, KnowsTheErrorsOfTwentyKernels) {
  std::mt19937 draws(1);
  const auto all = kernels();
  ASSERT_EQ(all.size(), 20u);
  for (const Kernel& kernel : all) {
    for (int i = 0; i < 50; ++i) {
      Machine machine;
      Numbers inputs;
      for (int k = 0; k < 24; ++k) {
        const auto bits = static_cast<std::int32_t>(draws());
        inputs.push_back(Machine::number(std::ldexp(static_cast<float>(bits), -27 - i % 5)));
      }
      const Number out = kernel.run(machine, inputs);
      if (!std::isfinite(out.computed) || mpfr_zero_p(out.exact.get()) != 0) continue;
      Exact distance;
      mpfr_sub_d(distance.get(), out.exact.get(), out.computed, MPFR_RNDN);
      const double unit = unit_in_last_place(mpfr_get_d(out.exact.get(), MPFR_RNDN), Type::f32);
      const double ulps = std::abs(mpfr_get_d(distance.get(), MPFR_RNDN)) / unit;
      EXPECT_NEAR(error_in_ulps(out.computed, out.value), ulps, 1e-3 * (1 + ulps))
          << kernel.name << " " << i;
    }
  }
}

TEST(PrecisionDomain, KnowsSinesAndCosines) {
  for (double x = 0.3; std::abs(x) < 0x1p28; x *= -7.3) {
    Exact value, error;
    for (const bool is_sine : {true, false}) {
      const DoubleDouble a{x, 0}, found = is_sine ? sine(a) : cosine(a);
      mpfr_set_d(value.get(), x, MPFR_RNDN);
      is_sine ? mpfr_sin(value.get(), value.get(), MPFR_RNDN)
              : mpfr_cos(value.get(), value.get(), MPFR_RNDN);
      mpfr_sub_d(error.get(), value.get(), found.hi, MPFR_RNDN);
      mpfr_sub_d(error.get(), error.get(), found.lo, MPFR_RNDN);
      EXPECT_LT(std::abs(mpfr_get_d(error.get(), MPFR_RNDN)), 0x1p-95) << x;
    }
  }
  EXPECT_FALSE(has_sine({0x1p28, 0}));
}

// What rounding the data would do: equal data move alike, numbers of few digits do not move.
TEST(PrecisionDomain, MovesDataByHalfAUnit) {
  Machine m;
  const Number a = Machine::number(0.1f), b = Machine::number(0.7f), one = Machine::number(1);
  const double half_unit = unit_in_last_place(1, Type::f32) / 2;
  EXPECT_EQ(largest(one.value.moved), 0);
  EXPECT_GE(largest(a.value.moved), 0.1 * half_unit * 0.5);
  EXPECT_LE(largest(a.value.moved), 0.1 * half_unit * 1.0001);
  EXPECT_EQ(largest(m.sub(a, a).value.moved), 0);
  EXPECT_GT(largest(m.sub(a, b).value.moved), 0);
  const float square = 2 * 0.7f * b.value.moved[0];
  EXPECT_FLOAT_EQ(m.mul(b, b).value.moved[0], square);
  EXPECT_FLOAT_EQ(m.sqrt(b).value.moved[0], b.value.moved[0] / (2 * std::sqrt(0.7f)));
  EXPECT_FLOAT_EQ(m.div(one, b).value.moved[0], -b.value.moved[0] / (0.7f * 0.7f));
}

TEST(PrecisionDomain, CountsSumsThatChangeNothing) {
  Program program;
  program.code.resize(1);
  program.sources.resize(1);
  const ptx::Modifiers modifiers;
  const ShadowOperation add{Opcode::add_, &modifiers, Type::f32, Type::f32};
  const Reporter reporter;
  PrecisionDomain domain(reporter);
  const auto sum = [&](float a, float b) {
    const auto operand = [](float x) {
      const std::uint64_t bits = std::bit_cast<std::uint32_t>(x);
      return ShadowOperand<PrecisionDomain::Value>{
          .value = *PrecisionDomain::constant(bits, Type::f32), .bits = bits};
    };
    const std::uint64_t result = std::bit_cast<std::uint32_t>(a + b);
    const std::array operands{operand(a), operand(b)};
    (void)domain.apply({&program, 0, {}, 0}, add, operands, &result);
  };
  sum(1e8f, 1);  // below half an ulp, which is 4
  sum(1e8f, 8);
  sum(1, 1e8f);
  sum(1e8f, 0);  // 0 has nothing to lose
  ASSERT_EQ(domain.sites().size(), 1u);
  EXPECT_EQ(domain.sites()[0].executed, 4u);
  EXPECT_EQ(domain.sites()[0].absorbed, 2u);
}

}  // namespace
}  // namespace warpcheck::vgpu
