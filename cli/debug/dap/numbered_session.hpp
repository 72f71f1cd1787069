// What is being debugged, and the numbers by which the client names parts of its state: threads,
// for the whole session; frames and groups of variables, until the debuggee runs again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/debug/dap/request.hpp"
#include "cli/debug/inspector.hpp"
#include "cli/debug/session.hpp"

namespace warpcheck::dap {

// A member of a group of variables.
struct ShownVariable;
using Members = std::function<std::vector<ShownVariable>(std::size_t first, std::size_t count)>;
struct ShownVariable {
  std::string name;
  std::string value;
  std::string type{};        // empty: none
  std::size_t count = 0;     // of its members
  Members members{};         // makes them, when the client opens it
  bool is_indexed = false;   // the members are elements
  std::string expression{};  // that gives the value; empty: none does
};

struct ThreadFrame {
  debug::Thread thread;
  std::size_t index = 0;  // in DebugSession::frames()
  std::uint32_t physical = 0;
};

class NumberedSession {
 public:
  // Throws RequestError before the launch, and while the debuggee runs.
  [[nodiscard]] debug::DebugSession& stopped_session() const;
  // Also while it runs: requests are performed while it rests.  Throws RequestError before the
  // launch.
  [[nodiscard]] debug::DebugSession& session() const;
  [[nodiscard]] debug::Inspector& inspector() const;  // as session()
  [[nodiscard]] bool is_launched() const { return session_ != nullptr; }
  void begin(std::unique_ptr<debug::DebugSession> session);
  // Ends all of its processes.
  void end();

  [[nodiscard]] bool is_running() const { return is_running_; }
  // Forgets frames and variables, whose numbers are not valid any more.
  void set_running(bool is_running);

  [[nodiscard]] std::int64_t number_of(const debug::Thread& thread);
  [[nodiscard]] debug::Thread thread_of(std::int64_t number) const;
  // All that have a number, in order.
  [[nodiscard]] const std::vector<debug::Thread>& numbered_threads() const { return threads_; }

  [[nodiscard]] std::int64_t add_frame(const ThreadFrame& frame);
  [[nodiscard]] const ThreadFrame& frame_of(std::int64_t number) const;
  // The innermost one of the focus, for requests that name no frame.
  [[nodiscard]] ThreadFrame focus_frame() const;

  struct Group {
    ThreadFrame frame;
    Members members;
    std::size_t count = 0;
  };
  // Returns the number of a group, 0 for one without members.
  [[nodiscard]] std::int64_t add_group(Group group);
  [[nodiscard]] const Group& group_of(std::int64_t number) const;

  // What a data breakpoint watches, so that what it holds is shown as a value of its type.
  struct Watched {
    std::string expression;
    debug::Value value;  // its type stays valid
  };
  // Of a `dataId` that the client was given, for the whole session.
  void note_watched(const std::string& data_id, Watched watched);
  // nullptr: an address without a type, or an id that was not given.
  [[nodiscard]] const Watched* watched_of(const std::string& data_id) const;

 private:
  std::unique_ptr<debug::DebugSession> session_;
  std::unique_ptr<debug::Inspector> inspector_;  // of it
  bool is_running_ = false;
  std::vector<debug::Thread> threads_;  // by number, from 1
  std::vector<ThreadFrame> frames_;     // by number, from 1
  std::vector<Group> groups_;           // by number, from 1
  std::map<std::string, Watched> watched_;
};

}  // namespace warpcheck::dap
