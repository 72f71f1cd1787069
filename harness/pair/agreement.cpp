#include "harness/pair/agreement.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <utility>

#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace detail {

std::string shortened(std::string text) {
  if (text.size() > kShownMax) text.replace(kShownMax, std::string::npos, "...");
  return text;
}

std::string show_number(double value) { return fmt::format("{}", value); }
std::string show_number(float value) { return fmt::format("{}", value); }
std::string show_number(std::int64_t value) { return fmt::format("{}", value); }
std::string show_number(std::uint64_t value) { return fmt::format("{}", value); }

std::string size_difference(std::size_t out, std::size_t other, std::string_view other_name) {
  return fmt::format("out has {}, {} {}", counted(out, "element"), other_name, other);
}

std::string element_difference(std::optional<std::size_t> index, const std::string& out,
                               const std::string& other, std::string_view other_name) {
  if (index) return fmt::format("out[{}] = {}, {} {}", *index, out, other_name, other);
  return fmt::format("out = {}, {} {}", out, other_name, other);
}

double excess(const BoundedElement& element) {
  constexpr double kOutside = std::numeric_limits<double>::infinity();
  const auto [out, reference, bound] = element;
  if (bound == std::numeric_limits<double>::infinity()) return 0;
  if (std::isnan(reference)) return std::isnan(out) ? 0 : kOutside;
  if (std::isinf(reference)) return out == reference ? 0 : kOutside;
  if (!std::isfinite(out)) return kOutside;
  const double distance = std::fabs(out - reference);
  if (distance == 0) return 0;
  return bound == 0 ? kOutside : distance / bound;
}

namespace {

// The rank of a float in the order of all floats; neighbours differ by one.
std::int64_t rank(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits < 0 ? std::int64_t{INT32_MIN} - bits : bits;
}

std::int64_t rank(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits < 0 ? INT64_MIN - bits : bits;
}

// A double that is also a float is shown as the float.
std::string show_in(double value, Precision precision) {
  const auto single = static_cast<float>(value);
  if (precision == Precision::single && static_cast<double>(single) == value) {
    return fmt::format("{}", single);
  }
  return fmt::format("{}", value);
}

std::string share_of_bound(const BoundedElement& element) {
  if (element.bound == 0) return "where none is allowed";
  const std::string share = fmt::format("{:.2g}", excess(element));
  return share == "1" ? "just over the bound" : share + " times the bound";
}

}  // namespace

std::uint64_t ulps_apart(double a, double b, Precision precision) {
  const auto between = [](std::int64_t low, std::int64_t high) {
    if (low > high) std::swap(low, high);
    return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  };
  if (precision == Precision::double_) return between(rank(a), rank(b));
  return between(rank(static_cast<float>(a)), rank(static_cast<float>(b)));
}

std::string show_ulps(std::uint64_t ulps) {
  return ulps == 1 ? "1 ulp" : fmt::format("{} ulps", fmt::group_digits(ulps));
}

std::string show_bits(float value) {
  return fmt::format("{} (0x{:08x})", value, std::bit_cast<std::uint32_t>(value));
}
std::string show_bits(double value) {
  return fmt::format("{} (0x{:016x})", value, std::bit_cast<std::uint64_t>(value));
}

std::string show_count(std::size_t count) {
  if (count == 0) return "never";
  if (count == 1) return "once";
  if (count == 2) return "twice";
  return fmt::format("{} times", count);
}

std::string bound_difference(std::size_t index, const BoundedElement& element,
                             Precision precision) {
  const auto [out, reference, bound] = element;
  std::string text = fmt::format("out[{}] = {}, reference {}", index, show_in(out, precision),
                                 show_in(reference, precision));
  if (!std::isfinite(out) || !std::isfinite(reference)) return text;
  return text + fmt::format(" ({}, {})", show_ulps(ulps_apart(out, reference, precision)),
                            share_of_bound(element));
}

}  // namespace detail
}  // namespace warpcheck
