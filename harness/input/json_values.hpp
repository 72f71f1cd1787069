// Typed values as JSON that reads back to the same bits, and errors that name the place.
//
//   integers   JSON integers, exact in 64 bits, checked against the type's range
//   floats     finite ones as the shortest decimal that reads back to the same bits; the rest as
//              text: "-0", "inf", "-inf", and NaNs with all their bits: "nan:0x7fc00001"
//   strings    unchanged if valid UTF-8, else "hex:c3ff"
//
// Pair files include this header, so it only declares the JSON type: its definition would take most
// of the time to compile a pair.  json.hpp defines it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/input/function_ref.hpp"

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

// Each sets `json` to the value.
void write_bool(Json& json, bool value);
void write_signed(Json& json, std::int64_t value);
void write_unsigned(Json& json, std::uint64_t value);
void write_float(Json& json, float value);
void write_double(Json& json, double value);
void write_text(Json& json, const std::string& value);
void write_name(Json& json, std::string_view name);  // valid UTF-8

// Sets `json` to an empty list, with room for `size` elements.
void write_list(Json& json, std::size_t size);
// A new last element, null; valid until the next one.
[[nodiscard]] Json& append_to(Json& list);

// Sets `json` to an object without members.
void write_object(Json& json);
// The member of that name, null if it is new; valid until the next new one.
[[nodiscard]] Json& member_of(Json& object, const char* name);

// Each throws FieldError if the value is not as expected.
[[nodiscard]] bool read_bool(const Json& json, const FieldPath& path);
[[nodiscard]] std::int64_t read_signed(const Json& json, const FieldPath& path, std::int64_t min,
                                       std::int64_t max);
[[nodiscard]] std::uint64_t read_unsigned(const Json& json, const FieldPath& path,
                                          std::uint64_t max);
[[nodiscard]] float read_float(const Json& json, const FieldPath& path);
[[nodiscard]] double read_double(const Json& json, const FieldPath& path);
[[nodiscard]] std::string read_text(const Json& json, const FieldPath& path);
// The index of the name in `names`.
[[nodiscard]] std::size_t read_name(const Json& json, const FieldPath& path,
                                    std::span<const std::string_view> names);

// The number of elements of a list; throws FieldError if it is none.
[[nodiscard]] std::size_t list_size(const Json& json, const FieldPath& path);
// Throws FieldError if it is no list of that size.
void expect_list(const Json& json, const FieldPath& path, std::size_t size);
// Precondition: a list of more than `index` elements.
[[nodiscard]] const Json& element_of(const Json& list, std::size_t index);

// A JSON object whose fields are taken one by one; a remaining field is an error.
class ObjectReader {
 public:
  // Keeps both references.  Throws FieldError if it is no object.
  ObjectReader(const Json& json, const FieldPath& path);

  // Null if there is none.
  [[nodiscard]] const Json* optional(std::string_view name);
  // The others throw FieldError.
  [[nodiscard]] const Json& required(std::string_view name);
  template <class T>
  [[nodiscard]] T number(std::string_view name) {
    return static_cast<T>(
        read_unsigned(required(name), FieldPath(path_, name), std::numeric_limits<T>::max()));
  }
  [[nodiscard]] std::string text(std::string_view name);
  // `known`: the names of all fields that an object may have.
  void finish(std::initializer_list<std::string_view> known) const;

  [[nodiscard]] const FieldPath& path() const { return path_; }

 private:
  const Json& json_;
  const FieldPath& path_;
  std::size_t taken_ = 0;
};

// Prints on one line what `write` writes.
void print_json(std::ostream& out, FunctionRef<void(Json&)> write);

}  // namespace warpcheck
