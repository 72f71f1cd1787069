#include "cli/debug/session_thread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace warpcheck::debug {
namespace {

// "u32" -> Type::u32
ptx::Type type_named(std::string_view name) {
  for (auto i = static_cast<int>(ptx::Type::pred); i <= static_cast<int>(ptx::Type::f64); ++i) {
    const auto type = static_cast<ptx::Type>(i);
    if (ptx::name_of(type) == name) return type;
  }
  return ptx::Type::b64;
}

}  // namespace

ptx::Space space_of(Space space) {
  switch (space) {
    case Space::global: return ptx::Space::global;
    case Space::shared: return ptx::Space::shared;
    case Space::local: return ptx::Space::local;
    case Space::constant: return ptx::Space::constant;
    case Space::parameter: return ptx::Space::param;
  }
  return ptx::Space::generic;
}

std::size_t user_frame(DebugSession& session, const Thread& thread) {
  const std::vector<Frame> frames = session.frames(thread);
  const CodeLocation& user = session.kernel_text().instructions.at(frames.front().at.pc).at;
  const auto found = std::ranges::find_if(frames, [&](const Frame& frame) {
    return frame.at.file == user.file && frame.at.line == user.line;
  });
  return found == frames.end() ? 0 : static_cast<std::size_t>(found - frames.begin());
}

SessionThread::SessionThread(DebugSession& session, const Thread& thread, std::size_t frame)
    : session_(session), thread_(thread) {
  std::vector<Frame> frames = session.frames(thread);
  if (frame >= frames.size()) {
    throw DebugError(
        fmt::format("the thread has {} frames; there is no frame {}", frames.size(), frame));
  }
  for (std::size_t i = 0; i < frame; ++i) {
    if (frames[i].physical == frames[frame].physical) ++inlined_;
  }
  frame_ = std::move(frames[frame]);
}

CodePosition SessionThread::position() const {
  return {frame_.at.linkage_name, frame_.at.ptx_line};
}

std::optional<RegisterBits> SessionThread::register_bits(std::string_view name) const {
  if (registers_.empty()) {
    for (Register& each : session_.registers(thread_, frame_.physical)) {
      registers_.emplace(std::move(each.name),
                         RegisterBits{each.bits, each.undefined_bits, type_named(each.type)});
    }
  }
  const auto found = registers_.find(name);
  return found == registers_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint64_t> SessionThread::special(ptx::SpecialRegister special) const {
  const Stop& stop = session_.stop();
  const Dim3 &tid = thread_.thread, &ntid = stop.block;
  const std::uint64_t linear =
      tid.x + std::uint64_t{ntid.x} * (tid.y + std::uint64_t{ntid.y} * tid.z);
  switch (special) {
    case ptx::SpecialRegister::tid_x: return tid.x;
    case ptx::SpecialRegister::tid_y: return tid.y;
    case ptx::SpecialRegister::tid_z: return tid.z;
    case ptx::SpecialRegister::ntid_x: return ntid.x;
    case ptx::SpecialRegister::ntid_y: return ntid.y;
    case ptx::SpecialRegister::ntid_z: return ntid.z;
    case ptx::SpecialRegister::ctaid_x: return thread_.block.x;
    case ptx::SpecialRegister::ctaid_y: return thread_.block.y;
    case ptx::SpecialRegister::ctaid_z: return thread_.block.z;
    case ptx::SpecialRegister::nctaid_x: return stop.grid.x;
    case ptx::SpecialRegister::nctaid_y: return stop.grid.y;
    case ptx::SpecialRegister::nctaid_z: return stop.grid.z;
    case ptx::SpecialRegister::laneid: return linear % 32;
    case ptx::SpecialRegister::warpid: return linear / 32;
    default: return std::nullopt;
  }
}

Place SessionThread::place_of(Address address) const {
  switch (address.space) {
    case ptx::Space::shared: return {Space::shared, address.offset, thread_};
    case ptx::Space::local: return {Space::local, address.offset, thread_};
    case ptx::Space::constant: return {Space::constant, address.offset, thread_};
    case ptx::Space::param: return {Space::parameter, address.offset, thread_};
    case ptx::Space::global: return {Space::global, address.offset, thread_};
    case ptx::Space::generic: break;
  }
  return session_.resolve(thread_, address.offset);
}

MemoryBytes SessionThread::memory(Address address, std::size_t bytes) const {
  try {
    Memory memory = session_.memory(place_of(address), bytes);
    if (memory.bytes.size() < bytes) throw Unreadable(memory.why_short);
    return {std::move(memory.bytes), std::move(memory.unwritten)};
  } catch (const DebugError& error) {
    throw Unreadable(error.what());
  }
}

std::uint64_t SessionThread::readable_bytes(Address address) const {
  constexpr std::uint64_t kReadableMax = 1 << 20;
  try {
    return session_.memory(place_of(address), kReadableMax).bytes.size();
  } catch (const DebugError&) {
    return 0;
  }
}

std::optional<Address> SessionThread::symbol(std::string_view name) const {
  const std::optional<Symbol> found = session_.symbol(name, thread_, frame_.physical);
  if (!found) return std::nullopt;
  return Address{space_of(found->place.space), found->place.offset};
}

std::string SessionThread::function_at(std::uint64_t address) const {
  return session_.function_at(address);
}

Address SessionThread::resolve(std::uint64_t generic) const {
  try {
    const Place place = session_.resolve(thread_, generic);
    // Only the generic address says that the memory is another block's.
    if (!(place.thread.block == thread_.block)) return {ptx::Space::generic, generic};
    return {space_of(place.space), place.offset};
  } catch (const DebugError&) {
    return {ptx::Space::generic, generic};
  }
}

}  // namespace warpcheck::debug
