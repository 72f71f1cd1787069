// Requests by their names: what each part of the adapter performs.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "cli/debug/dap/request.hpp"

namespace warpcheck::dap {

struct Answer {
  Json body = nullptr;         // null: the response has none
  std::function<void()> then;  // after the response was sent; may be empty
  // NOLINTNEXTLINE(google-explicit-constructor): most handlers only return a body
  Answer(Json body_of_response = nullptr, std::function<void()> and_then = {})
      : body(std::move(body_of_response)), then(std::move(and_then)) {}
};

// Throws RequestError or debug::DebugError for what cannot be performed.
using Handler = std::function<Answer(const Arguments&)>;
using Handlers = std::map<std::string, Handler, std::less<>>;

}  // namespace warpcheck::dap
