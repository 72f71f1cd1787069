// One frame of a session's thread, as variables and expressions need it (thread_view.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cli/debug/session.hpp"
#include "cli/debug/variables/thread_view.hpp"

namespace warpcheck::debug {

// The space of a session, and that of variables.
ptx::Space space_of(Space space);

// The number of the frame of the user's line: inside of a library's function, that of its call.
std::size_t user_frame(DebugSession& session, const Thread& thread);

class SessionThread : public ThreadView {
 public:
  // Throws DebugError if the thread has no frame of that number.
  SessionThread(DebugSession& session, const Thread& thread, std::size_t frame);

  [[nodiscard]] CodePosition position() const override;
  [[nodiscard]] std::optional<RegisterBits> register_bits(std::string_view name) const override;
  [[nodiscard]] std::optional<std::uint64_t> special(ptx::SpecialRegister special) const override;
  [[nodiscard]] MemoryBytes memory(Address address, std::size_t bytes) const override;
  [[nodiscard]] std::optional<Address> symbol(std::string_view name) const override;
  [[nodiscard]] Address resolve(std::uint64_t generic) const override;
  [[nodiscard]] std::string function_at(std::uint64_t address) const override;

  // How many bytes can be read from there on, as far as a mebibyte.
  [[nodiscard]] std::uint64_t readable_bytes(Address address) const;
  // The place of an address in the session.  Throws DebugError if a generic one names no memory.
  [[nodiscard]] Place place_of(Address address) const;
  [[nodiscard]] const Frame& frame() const { return frame_; }
  // Of the frames that share this one's registers, the number of those inside of it.
  [[nodiscard]] std::size_t inlined() const { return inlined_; }

 private:
  DebugSession& session_;
  Thread thread_;
  Frame frame_;
  std::size_t inlined_ = 0;
  mutable std::map<std::string, RegisterBits, std::less<>> registers_;  // empty: not asked for
};

}  // namespace warpcheck::debug
