#include "cli/debug/dap/client.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "cli/debug/dap/frames.hpp"

namespace warpcheck::dap {
namespace {

// Clients tell errors apart by a number; the text of this one is its message.
constexpr int kErrorNumber = 1;

Json response_to(std::int64_t seq, std::string_view command) {
  return {{"type", "response"}, {"request_seq", seq}, {"command", command}};
}

Json refusal(std::int64_t seq, std::string_view command, std::string_view message) {
  Json response = response_to(seq, command);
  response["success"] = false;
  response["message"] = message;
  response["body"]["error"] = {{"id", kErrorNumber},
                               {"format", "{message}"},
                               {"variables", {{"message", message}}},
                               {"showUser", true}};
  return response;
}

}  // namespace

void Client::respond(const Request& request, Json body) {
  Json response = response_to(request.seq, request.command);
  response["success"] = true;
  if (!body.is_null()) response["body"] = std::move(body);
  send(std::move(response));
}

void Client::refuse(const Request& request, std::string_view message) {
  send(refusal(request.seq, request.command, message));
}

// A response names its request by a number; 0 is no request's.
void Client::refuse_damaged(std::string_view message) { send(refusal(0, "", message)); }

void Client::send_event(std::string_view event, Json body) {
  Json message = {{"type", "event"}, {"event", event}};
  if (!body.is_null()) message["body"] = std::move(body);
  send(std::move(message));
}

void Client::send(Json message) {
  message["seq"] = ++seq_;
  // Names and output of programs need not be UTF-8.
  const std::string bytes = framed(message.dump(-1, ' ', false, Json::error_handler_t::replace));
  for (std::size_t done = 0; done < bytes.size() && !is_gone_;) {
    const ssize_t count = ::write(out_, bytes.data() + done, bytes.size() - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      is_gone_ = true;
    }
  }
}

}  // namespace warpcheck::dap
