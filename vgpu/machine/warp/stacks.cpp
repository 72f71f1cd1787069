#include "vgpu/machine/warp/stacks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// Limit of host memory for one register bank of a warp.
constexpr std::size_t kBankBytesMax = std::size_t{1} << 28;
constexpr std::uint32_t kFirstPieceBytes = 256;

}  // namespace

std::uint32_t Stacks::limit() const {
  const std::uint32_t most = static_cast<std::uint32_t>(kWindowBytes);
  return std::min(most, std::max(launch_.program().local_bytes_max, launch_.request().stack_bytes));
}

void Stacks::drop_pieces(Warp& warp) {
  for (const Warp::LocalPiece& piece : warp.local_beyond) {
    launch_.memory().release_private(piece.allocation);
  }
  warp.local_beyond.clear();
}

void Stacks::start_local(Warp& warp) {
  if (!warp.local_beyond.empty()) drop_pieces(warp);
  if (warp.local_bytes == 0) return;
  warp.local =
      launch_.memory().renew_private(warp.local, warp.local_bytes * kWarpLanes, ptx::Space::local);
  launch_.notify([&](Observer& observer) { observer.on_allocate(*warp.local); });
}

bool Stacks::grow(RunningFragment& run, const Fragment& fragment, std::uint64_t local_top) {
  Warp& warp = run.warp;
  const FunctionCode& function = launch_.program().functions[fragment.function];
  const auto reserve = [](RowBank& bank, std::size_t bytes) {
    if (bytes > kBankBytesMax) return false;
    if (bytes > bank.bytes()) bank.grow(std::max(bytes, std::min(2 * bank.bytes(), kBankBytesMax)));
    return true;
  };
  const bool has_rows =
      reserve(warp.words,
              fragment.word_base +
                  std::size_t{function.words + function.outgoing_words} * kWordRowBytes) &&
      reserve(warp.wides, fragment.wide_base + std::size_t{function.wides} * kWideRowBytes) &&
      reserve(warp.predicates, fragment.predicate_base + std::size_t{function.predicates} * 4);
  if (!has_rows) {
    launch_.refuse(
        fmt::format("{}: calls {} deep need more host memory for registers than there is",
                    launch_.program().kernel, fragment.callers.size()));
    return false;
  }
  warp.undefined.reserve({static_cast<std::uint32_t>(warp.words.bytes() / kWordRowBytes),
                          static_cast<std::uint32_t>(warp.wides.bytes() / kWideRowBytes),
                          static_cast<std::uint32_t>(warp.predicates.bytes() / 4)});
  if (local_top <= warp.local_bytes) return true;
  const std::uint32_t limit = Stacks::limit();
  if (local_top > limit) {
    launch_.halt(
        run, fragment.mask, Trap::Cause::stack_overflow,
        fmt::format("stack overflow: (1) needs {} bytes of a stack of {} (cudaLimitStackSize)",
                    local_top, limit));
    return false;
  }
  const auto needed = static_cast<std::uint32_t>(local_top) - warp.local_bytes;
  const std::uint32_t bytes =
      std::min((std::max({needed, warp.local_bytes, kFirstPieceBytes}) + 15) / 16 * 16,
               (limit - warp.local_bytes + 15) / 16 * 16);
  Allocation* const piece =
      launch_.memory().allocate_private(bytes * kWarpLanes, ptx::Space::local);
  warp.local_beyond.push_back({piece, warp.local_bytes});
  warp.local_bytes += bytes;
  launch_.notify([&](Observer& observer) { observer.on_allocate(*piece); });
  return true;
}

void Stacks::report_release(const Warp& warp, std::uint32_t begin, std::uint32_t end,
                            std::uint32_t mask) const {
  const std::span<Observer* const> watching = launch_.observers().list->of_frames();
  if (watching.empty()) return;
  const auto report = [&](const Allocation* allocation, std::uint32_t at, std::uint32_t bytes) {
    const std::uint32_t first = std::max(begin, at), last = std::min(end, at + bytes);
    if (first >= last) return;
    const FrameEnd event{allocation, first - at, last - first, mask};
    for (Observer* const observer : watching) observer->on_frame_end(event);
  };
  if (warp.local != nullptr) report(warp.local, 0, warp.local->bytes / kWarpLanes);
  for (const Warp::LocalPiece& piece : warp.local_beyond) {
    report(piece.allocation, piece.begin, piece.allocation->bytes / kWarpLanes);
  }
}

// Lanes of a fragment share the end of their frame, so alloca takes the largest size that any of
// them requests.
Step Stacks::move(RunningFragment& run, std::size_t index, const Instr& instr) {
  Warp& warp = run.warp;
  Fragment& fragment = warp.fragments[index];
  const std::uint32_t mask = fragment.mask;
  std::uint64_t value = fragment.local_top;
  const auto each = [&](auto take) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      take(lane_value(run, instr[StackOperand::argument],
                      static_cast<unsigned>(std::countr_zero(rest))));
    }
  };
  if (instr.opcode == ptx::Opcode::alloca_) {
    const auto alignment = static_cast<std::uint64_t>(instr.alignment);
    std::uint64_t bytes = 0;
    each([&](std::uint64_t asked) { bytes = std::max(bytes, asked); });
    value = (value + alignment - 1) / alignment * alignment;
    const bool fits = bytes <= kWindowBytes;
    const std::uint64_t top = fits ? (value + bytes + 15) / 16 * 16 : UINT64_MAX;
    if (!grow(run, fragment, top)) return Step::halted;
    fragment.local_top = static_cast<std::uint32_t>(top);
  } else if (instr.opcode == ptx::Opcode::stackrestore_) {
    std::uint64_t top = 0;
    each([&](std::uint64_t saved) { top = std::max(top, saved); });
    const std::uint32_t lowest =
        fragment.local_base + launch_.program().functions[fragment.function].local_bytes;
    if (top < lowest || top > fragment.local_top) {
      return launch_.halt(
          run, mask, Trap::Cause::stack_overflow,
          "(1) restores a stack pointer that no stacksave of the function has given");
    }
    release(warp, static_cast<std::uint32_t>(top), fragment.local_top, mask);
    fragment.local_top = static_cast<std::uint32_t>(top);
  }
  if (const Ref& to = instr[StackOperand::result]; to.bank != Bank::none) {
    launch_.rows().broadcast(row_of(run.banks, to), to.bank == Bank::wide, value, mask);
    if (warp.undefined.any()) warp.undefined.set(run.frame, to, {}, mask, launch_.program());
  }
  fragment.pc = run.pc + 1;
  return Step::again;
}

}  // namespace warpcheck::vgpu
