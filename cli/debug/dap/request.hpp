// A request of a client, and typed access to its arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/input/json.hpp"

namespace warpcheck::dap {

// Why a request cannot be performed, one sentence for its user.
class RequestError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Members of a JSON object by name.  A member that is missing or null, or of another type than
// expected, is a RequestError that names it: "setBreakpoints: breakpoints[2].line: expected ...".
// Members that nobody asks for are ignored, because newer clients send more of them.
class Arguments {
 public:
  // path: the object's place in messages.  Keeps a reference to the document.
  Arguments(const Json& object, std::string path);

  [[nodiscard]] std::string text(const char* name) const;
  [[nodiscard]] std::int64_t integer(const char* name) const;
  [[nodiscard]] Arguments object(const char* name) const;

  // Without the member: what `otherwise` says, or nothing.
  [[nodiscard]] std::string text_or(const char* name, std::string_view otherwise) const;
  [[nodiscard]] std::int64_t integer_or(const char* name, std::int64_t otherwise) const;
  [[nodiscard]] bool flag_or(const char* name, bool otherwise) const;
  [[nodiscard]] std::optional<Arguments> object_if(const char* name) const;
  [[nodiscard]] std::vector<Arguments> objects_if(const char* name) const;
  [[nodiscard]] std::vector<std::string> texts_if(const char* name) const;
  // The list itself; an empty one if there is none.
  [[nodiscard]] Json list(const char* name) const;
  // The names and texts of all members of the object; a null is an empty optional.
  [[nodiscard]] std::vector<std::pair<std::string, std::optional<std::string>>> members() const;

  [[nodiscard]] bool has(const char* name) const { return find(name) != nullptr; }
  // Throws RequestError for a value that its type does not rule out.
  [[noreturn]] void refuse(const char* name, std::string_view expected) const;

 private:
  [[nodiscard]] const Json* find(const char* name) const;
  [[nodiscard]] const Json& require(const char* name, std::string_view expected) const;
  [[nodiscard]] std::string path_of(std::string_view name) const;

  const Json* object_;  // null: there are no arguments
  std::string path_;
};

struct Request {
  std::int64_t seq = 0;
  std::string command;
  Json document;  // the whole message

  [[nodiscard]] Arguments arguments() const;
};

// Throws DamagedMessage (frames.hpp) if the text is no JSON or no message of this protocol.
// Returns nothing for a response of the client, because we send it no requests.
[[nodiscard]] std::optional<Request> parse_request(std::string_view text);

}  // namespace warpcheck::dap
