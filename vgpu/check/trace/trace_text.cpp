// A trace as text, an instruction a line.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "vgpu/check/trace/trace_printer.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

class TextPrinter final : public TracePrinter {
 public:
  std::string launch(const TraceLaunch& launch) override {
    return fmt::format("launch {}: {}  grid {} block {}\n", launch.number, launch.kernel,
                       launch.grid, launch.block);
  }
  std::string launch_end() override { return "launch ends\n"; }
  std::string step(const TraceStep& step) override {
    const std::string place = step.file.empty() ? "?" : fmt::format("{}:{}", step.file, step.line);
    const std::string lanes = step.lanes == 0 ? "none" : text_of_lanes(step.lanes);
    std::string text = fmt::format("{:>6} b{} w{} {:<6} {:<22} {:<34}", step.number,
                                   step.warp.block, step.warp.warp, lanes, place, step.instruction);
    for (const auto& [lane, values] : step.values) {
      text += fmt::format("  lane {}: {}", lane, values);
    }
    if (!step.note.empty()) text += "  " + step.note;
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  }
  std::string event(const TraceEvent& event) override {
    const std::string who =
        event.of_block ? fmt::format("block {}", event.warp.block)
                       : fmt::format("block {} warp {}", event.warp.block, event.warp.warp);
    if (event.kind == TraceEvent::Kind::decision) return fmt::format("    -- {}\n", event.text);
    return fmt::format("    -- {}: {}\n", who, event.text);
  }
  std::string finding(const TraceFinding& finding) override {
    std::string text = fmt::format("    !! {}\n", finding.what);
    for (std::size_t i = 0; i < finding.sides.size(); ++i) {
      const TraceFinding::Side& side = finding.sides[i];
      text += fmt::format("       ({}) {}{}\n", i + 1, side.who,
                          side.number == 0 ? "" : fmt::format(": step {}", side.number));
    }
    return text + fmt::format("       {}\n", finding.message);
  }
  std::string end(const TraceTotals& totals, std::uint64_t bytes_max) override {
    return fmt::format("# {}\n", text_of_end(totals, bytes_max));
  }
};

}  // namespace

std::unique_ptr<TracePrinter> text_printer() { return std::make_unique<TextPrinter>(); }

std::string text_of_end(const TraceTotals& totals, std::uint64_t bytes_max) {
  const std::uint64_t left_out = totals.shown - totals.written;
  if (left_out != 0) {
    return fmt::format("{} of {} are left out: the limit of {} is reached (--trace-limit)",
                       left_out, counted(totals.shown, "step"), counted(bytes_max, "byte"));
  }
  std::string text =
      fmt::format("{} of {}", counted(totals.steps, "step"), counted(totals.launches, "launch"));
  if (totals.shown != totals.steps) text += fmt::format(", {} shown", totals.shown);
  if (totals.shown != 0) return text;
  std::string_view separator = "; there were: ";
  for (const auto& [name, kernel] : totals.kernels) {
    text += fmt::format("{}{} with {} of {}{}{}", std::exchange(separator, "; "), name,
                        counted(kernel.blocks, "block"), counted(kernel.warps, "warp"),
                        kernel.lines.empty() ? "" : ", lines ", kernel.lines);
  }
  return text;
}

}  // namespace warpcheck::vgpu
