#include "cli/debug/dap/numbered_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpcheck::dap {
namespace {

template <class T>
auto& at_number(T& list, std::int64_t number, const char* what) {
  if (number < 1 || static_cast<std::uint64_t>(number) > list.size()) {
    throw RequestError(fmt::format("{} {} does not exist at this stop", what, number));
  }
  return list[static_cast<std::size_t>(number - 1)];
}

}  // namespace

debug::DebugSession& NumberedSession::session() const {
  if (!session_) throw RequestError("nothing is being debugged: send `launch` first");
  return *session_;
}

debug::DebugSession& NumberedSession::stopped_session() const {
  if (is_running_) throw RequestError("notStopped");
  return session();
}

debug::Inspector& NumberedSession::inspector() const {
  static_cast<void>(session());
  return *inspector_;
}

void NumberedSession::begin(std::unique_ptr<debug::DebugSession> session) {
  session_ = std::move(session);
  inspector_ = std::make_unique<debug::Inspector>(*session_);
}

void NumberedSession::end() {
  watched_.clear();
  inspector_.reset();
  session_.reset();
}

void NumberedSession::set_running(bool is_running) {
  is_running_ = is_running;
  frames_.clear();
  groups_.clear();
}

std::int64_t NumberedSession::number_of(const debug::Thread& thread) {
  const auto found = std::ranges::find(threads_, thread);
  if (found == threads_.end()) {
    threads_.push_back(thread);
    return static_cast<std::int64_t>(threads_.size());
  }
  return found - threads_.begin() + 1;
}

debug::Thread NumberedSession::thread_of(std::int64_t number) const {
  return at_number(threads_, number, "thread");
}

std::int64_t NumberedSession::add_frame(const ThreadFrame& frame) {
  frames_.push_back(frame);
  return static_cast<std::int64_t>(frames_.size());
}

const ThreadFrame& NumberedSession::frame_of(std::int64_t number) const {
  return at_number(frames_, number, "frame");
}

ThreadFrame NumberedSession::focus_frame() const {
  const debug::Stop& stop = stopped_session().stop();
  if (!stop.has_location) throw RequestError("no kernel runs here");
  return {.thread = stop.focus};
}

std::int64_t NumberedSession::add_group(Group group) {
  if (group.count == 0) return 0;
  groups_.push_back(std::move(group));
  return static_cast<std::int64_t>(groups_.size());
}

const NumberedSession::Group& NumberedSession::group_of(std::int64_t number) const {
  return at_number(groups_, number, "variablesReference");
}

void NumberedSession::note_watched(const std::string& data_id, Watched watched) {
  watched_.insert_or_assign(data_id, std::move(watched));
}

const NumberedSession::Watched* NumberedSession::watched_of(const std::string& data_id) const {
  const auto found = watched_.find(data_id);
  return found == watched_.end() ? nullptr : &found->second;
}

}  // namespace warpcheck::dap
