#include "vgpu/machine/printing.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/printf_format.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kStringBytesMax = 1 << 20;

// Returns whether a generic address is in the block's shared memory.
bool is_own_shared(const Slot& slot, std::uint64_t address) {
  const std::uint64_t offset = address - kSharedWindow;
  return offset < kWindowBytes || offset - window_of_rank(slot.cluster_rank) < kWindowBytes;
}

}  // namespace

// Copies bytes from a generic address as far as memory exists.  Returns how many were copied.
std::size_t Printing::read_bytes(const RunningFragment& run, unsigned lane, std::uint64_t address,
                                 std::span<std::byte> to) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const std::uint64_t at = address + done;
    if (at - kLocalWindow < kWindowBytes) {
      const Target target = local_target(run.warp, kLocalWindow, at);
      const std::uint64_t offset = at - target.base;
      if (target.allocation == nullptr || offset >= target.limit) break;
      to[done++] = target.allocation->data[offset / 4 * (4 * kWarpLanes) + lane * 4 + offset % 4];
      continue;
    }
    const bool in_shared = is_own_shared(run.slot, at);
    const Allocation* const memory = in_shared ? run.slot.shared : launch_.memory().object_at(at);
    const std::uint64_t offset = in_shared           ? at % kWindowBytes
                                 : memory == nullptr ? at
                                                     : at - memory->address;
    if (memory == nullptr || offset >= memory->bytes) break;
    const std::size_t count = std::min<std::uint64_t>(to.size() - done, memory->bytes - offset);
    std::memcpy(to.data() + done, memory->data + offset, count);
    done += count;
  }
  if (done < to.size()) {
    Fault fault;
    fault.program = &launch_.program();
    fault.place = launch_.place_of(run.slot, run.warp);
    fault.pc = run.pc;
    fault.lane = lane;
    fault.space = ptx::Space::global;
    fault.bytes = 1;
    fault.address = address + done;
    fault.nearest = launch_.memory().nearest(fault.address);
    const bool freed = fault.nearest != nullptr && !fault.nearest->live &&
                       fault.address - fault.nearest->address < fault.nearest->bytes;
    fault.kind = freed ? Fault::Kind::use_after_free : Fault::Kind::out_of_bounds;
    launch_.notify([&](Observer& observer) { observer.on_fault(fault); });
  }
  return done;
}

std::string Printing::read_string(const RunningFragment& run, unsigned lane,
                                  std::uint64_t address) const {
  std::string text;
  while (text.size() < kStringBytesMax) {
    std::byte next{};
    if (read_bytes(run, lane, address + text.size(), {&next, 1}) == 0) break;
    if (next == std::byte{0}) break;
    text += static_cast<char>(next);
  }
  return text;
}

// Prints lane after lane, so their lines appear in this order.
Step Printing::print(RunningFragment& run, std::size_t index, const Instr& instr) {
  Warp& warp = run.warp;
  const std::uint32_t mask = warp.fragments[index].mask;
  const Ref& to = instr[PrintOperand::result];
  if (warp.undefined.any()) {
    launch_.use_of_undefined(run, UndefinedUse::Kind::address, instr[PrintOperand::format], mask);
    warp.undefined.set(run.frame, to, {}, mask, launch_.program());
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t format = lane_value(run, instr[PrintOperand::format], lane);
    const std::uint64_t buffer = lane_value(run, instr[PrintOperand::arguments], lane);
    const PrintArguments arguments{
        [&](std::uint32_t offset, std::uint32_t bytes) {
          std::uint64_t value = 0;
          read_bytes(run, lane, buffer + offset,
                     std::as_writable_bytes(std::span(&value, 1)).first(bytes));
          return value;
        },
        [&](std::uint64_t address) { return read_string(run, lane, address); }};
    PrintedText printed;
    printed.arguments = -1;  // there is no format
    if (format != 0) {
      try {
        printed = format_printf(read_string(run, lane, format), arguments);
      } catch (const Refusal& refusal) {
        return launch_.refuse(fmt::format("{}: {}", launch_.program().kernel, refusal.what()));
      }
      const Print event{
          &launch_.program(),  launch_.place_of(run.slot, warp), run.pc, lane, false, printed.text,
          printed.record_bytes};
      launch_.notify([&](Observer& observer) { observer.on_print(event); });
    }
    std::memcpy(run.banks.base[static_cast<std::size_t>(to.bank)] + to.offset + lane * 4,
                &printed.arguments, 4);
  }
  warp.fragments[index].pc = run.pc + 1;
  return Step::again;
}

Step Printing::fail_assertion(RunningFragment& run, std::size_t index, const Instr& instr) {
  const std::uint32_t mask = run.warp.fragments[index].mask;
  std::string condition;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const auto text = [&](AssertionOperand operand) {
      return read_string(run, lane, lane_value(run, instr[operand], lane));
    };
    const std::string failed = text(AssertionOperand::condition);
    if (condition.empty()) condition = failed;
    const CodePlace place = launch_.code_place(run, lane);
    const std::string line = fmt::format(
        "{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n",
        text(AssertionOperand::file), lane_value(run, instr[AssertionOperand::line], lane),
        text(AssertionOperand::function), place.block.x, place.block.y, place.block.z,
        place.thread.x, place.thread.y, place.thread.z, failed);
    const Print event{
        &launch_.program(), launch_.place_of(run.slot, run.warp), run.pc, lane, true, line, 0};
    launch_.notify([&](Observer& observer) { observer.on_print(event); });
  }
  return launch_.halt(run, mask, Trap::Cause::assertion, "assertion failed: " + condition);
}

}  // namespace warpcheck::vgpu
