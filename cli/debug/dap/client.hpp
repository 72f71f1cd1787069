// What a debug adapter writes to its client: responses and events, numbered.
#pragma once

#include <cstdint>
#include <string_view>

#include "cli/debug/dap/request.hpp"

namespace warpcheck::dap {

class Client {
 public:
  // out: a descriptor, which remains the caller's
  explicit Client(int out) : out_(out) {}

  // An empty body is left out.
  void respond(const Request& request, Json body = nullptr);
  // message: a sentence for the user.
  void refuse(const Request& request, std::string_view message);
  // Answers what could not be read.
  void refuse_damaged(std::string_view message);
  void send_event(std::string_view event, Json body = nullptr);

  // Whether a message could not be written; the later ones are not tried.
  [[nodiscard]] bool is_gone() const { return is_gone_; }

 private:
  void send(Json message);

  int out_;
  bool is_gone_ = false;
  std::int64_t seq_ = 0;  // of the latest message
};

}  // namespace warpcheck::dap
