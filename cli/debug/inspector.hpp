// Variables and expressions in a debugging session: what the prompt and the server of the Debug
// Adapter Protocol show of a stopped thread.
//
// An expression is compiled for the kernel that runs.  Values are valid until the session goes on,
// or its position changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/debug/session.hpp"
#include "cli/debug/variables/value.hpp"

namespace warpcheck::debug {

class Inspector {
 public:
  explicit Inspector(DebugSession& session);  // must outlive this
  ~Inspector();
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;

  // A frame of a stopped thread: an index into DebugSession::frames(thread).
  struct At {
    Thread thread;
    std::size_t frame = 0;
  };

  // A variable or the value of an expression, with its text.
  struct Shown {
    NamedValue value;      // name, expression, value
    std::string type;      // "float[64]"
    std::string text;      // "{1, 2, 3}"
    std::size_t children;  // 0: it has none
  };

  // All throw DebugError with one line: a syntax error says its column, an unknown name what to do.
  Shown evaluate(std::string_view expression, const At& at, Format format = Format::natural);
  std::vector<Shown> arguments(const At& at, Format format = Format::natural);
  std::vector<Shown> locals(const At& at, Format format = Format::natural);
  std::vector<Shown> globals(const At& at, Format format = Format::natural);
  std::vector<Shown> children(const NamedValue& parent, const At& at, std::size_t first,
                              std::size_t count, Format format = Format::natural);
  // `ptype`: the declaration of the type of an expression, or of a type that is named.
  std::string declaration(std::string_view expression_or_type, const At& at);

  // Where the value of an expression is, and its size: for data breakpoints.
  struct Range {
    Place place;
    std::uint64_t bytes = 0;
    Value value{};  // its type stays valid
  };
  Range range_of(std::string_view expression, const At& at);
  // Where memory is examined: at the address that a pointer has; else where the value is.
  Place place_of(std::string_view expression, const At& at);

  // Whether registers of a frame may have been written: some path from a write leads to its place.
  std::vector<bool> are_written(const std::vector<Register>& registers, const At& at);

  // The text of a range's value that has these bytes; of each, some bits may be unwritten.
  std::string text_of_bytes(const Value& value, const std::vector<std::byte>& bytes,
                            const std::vector<std::uint8_t>& unwritten, const At& at);

  // What the lanes of the thread's warp hold of an expression, each where it stands.
  struct LaneValue {
    std::string text;  // empty: `note` says why there is no value: "has left the kernel"
    std::string note;  // of a lane that stands at another line: where
  };
  std::array<LaneValue, 32> lanes(std::string_view expression, const At& at,
                                  Format format = Format::natural);

  // The condition of a breakpoint.  The expression is checked now, and compiled once for each
  // kernel that it is asked in.  It is evaluated for the focus thread of the stop; where it has no
  // value, the session stops, so that nothing is passed by, and note_of_condition() says why.
  std::function<bool(const Stop&)> condition(std::string_view expression);
  [[nodiscard]] std::string note_of_condition() const;

  // Why the running kernel's debug information cannot be read, or has no variables ("built without
  // -G: ..."); empty: variables are known.
  std::string missing_variables();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpcheck::debug
