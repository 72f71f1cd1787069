// Typed values as JSON that reads back to the same bits, and errors that name the place.
//
//   integers   JSON integers, exact in 64 bits, checked against the type's range
//   floats     finite ones as the shortest decimal that reads back to the same bits; the rest as
//              text: "-0", "inf", "-inf", and NaNs with all their bits: "nan:0x7fc00001"
//   strings    unchanged if valid UTF-8, else "hex:c3ff"
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpcheck {

using Json = nlohmann::ordered_json;  // fields keep the order of their declaration

// A value in a file that is not what its field needs.  what() reads like
//   input.values[3]: expected an integer in [-2^31, 2^31), found "x"
class FieldError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The path of a value in a document; links are on the stack, and text is made only for an error.
class FieldPath {
 public:
  explicit FieldPath(std::string_view root) : name_(root) {}
  FieldPath(const FieldPath& parent, std::string_view name) : parent_(&parent), name_(name) {}
  FieldPath(const FieldPath& parent, std::size_t index) : parent_(&parent), index_(index) {}

  [[nodiscard]] std::string text() const;

 private:
  const FieldPath* parent_ = nullptr;
  std::string_view name_;  // null: an array element
  std::size_t index_ = 0;
};

// Throws FieldError: "<path>: expected <expected>, found <the value, cut to one short line>".
[[noreturn]] void throw_unexpected(const FieldPath& path, std::string_view expected,
                                   const Json& found);
[[noreturn]] void throw_field_error(const FieldPath& path, std::string_view message);

[[nodiscard]] Json json_of_float(float value);
[[nodiscard]] Json json_of_double(double value);
[[nodiscard]] Json json_of_text(const std::string& value);

[[nodiscard]] float float_of_json(const Json& json, const FieldPath& path);
[[nodiscard]] double double_of_json(const Json& json, const FieldPath& path);
[[nodiscard]] std::string text_of_json(const Json& json, const FieldPath& path);
[[nodiscard]] bool bool_of_json(const Json& json, const FieldPath& path);
[[nodiscard]] std::int64_t signed_of_json(const Json& json, const FieldPath& path, std::int64_t min,
                                          std::int64_t max);
[[nodiscard]] std::uint64_t unsigned_of_json(const Json& json, const FieldPath& path,
                                             std::uint64_t max);

}  // namespace warpcheck
