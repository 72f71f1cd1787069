// What `info` shows, by subject.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "cli/debug/prompt.hpp"
#include "cli/debug/prompt_words.hpp"
#include "vgpu/check/finding_groups.hpp"
#include "vgpu/program/dim3_text.hpp"
#include "vgpu/program/warp_rows.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::debug {

using vgpu::kWarpLanes;

namespace {

// What is said of one thread, or of several.
std::string state_of(const LaneState& state, bool is_one) {
  const char* const waits = is_one ? "waits" : "wait";
  switch (state.kind) {
    case LaneState::Kind::at_barrier: return fmt::format("{} at barrier {}", waits, state.barrier);
    case LaneState::Kind::at_warp_operation:
      return fmt::format("{} for lanes of {} warp", waits, is_one ? "its" : "their");
    case LaneState::Kind::at_cluster_barrier:
      return fmt::format("{} at the cluster's barrier", waits);
    case LaneState::Kind::exited: return is_one ? "has exited" : "have exited";
    case LaneState::Kind::ready: break;
  }
  return "can run";
}

// "can run at scan.cu:14  bar.sync 0"
std::string state_and_place_of(const LaneState& state, bool is_one) {
  if (state.kind == LaneState::Kind::exited) return state_of(state, is_one);
  return fmt::format("{} at {}:{}  {}", state_of(state, is_one), file_name(state.at.file),
                     state.at.line, state.at.instruction);
}

}  // namespace

const std::vector<Prompt::Subject>& Prompt::subjects() {
  static const std::vector<Subject> all{{{"threads"}, &Prompt::show_threads},
                                        {{"warps"}, &Prompt::show_warps},
                                        {{"lanes"}, &Prompt::show_lanes},
                                        {{"blocks"}, &Prompt::show_blocks},
                                        {{"kernels", "grids", "launches"}, &Prompt::show_kernel},
                                        {{"registers", "all-registers"}, &Prompt::show_registers},
                                        {{"locals", "args"}, &Prompt::show_locals},
                                        {{"variables", "globals"}, &Prompt::show_globals},
                                        {{"functions"}, &Prompt::show_functions},
                                        {{"sources", "files"}, &Prompt::show_sources},
                                        {{"frame", "line", "stack"}, &Prompt::backtrace},
                                        {{"findings"}, &Prompt::show_findings},
                                        {{"breakpoints", "watchpoints"}, &Prompt::show_breakpoints},
                                        {{"display"}, &Prompt::show_displays},
                                        {{"checkpoints"}, &Prompt::show_checkpoints}};
  return all;
}

// Also as cuda-gdb has it: info cuda warps.
void Prompt::info(const std::string& rest) {
  auto [subject, what] = first_word(rest);
  if (subject == "cuda") {
    const FirstWord next = first_word(what);
    subject = next.word;
    what = next.rest;
  }
  std::string known;
  for (const Subject& each : subjects()) {
    for (const char* const name : each.names) {
      if (!subject.empty() && std::string_view(name).starts_with(subject)) {
        return (this->*each.show)(what);
      }
    }
    known += (known.empty() ? "" : ", ") + std::string(each.names.front());
  }
  throw DebugError(subject.empty() ? fmt::format("info of what? {}", known)
                                   : fmt::format("there is no info about '{}'; there is about {}",
                                                 subject, known));
}

// Groups of threads in the same state.
void Prompt::show_threads(const std::string&) {
  const Stop& stop = session_.stop();
  for (const BlockState& block : session_.blocks()) {
    for (const WarpState& warp : block.warps) {
      for (const LaneGroup& group : warp.groups) {
        const std::uint32_t first =
            warp.warp * kWarpLanes + static_cast<std::uint32_t>(std::countr_zero(group.lanes));
        const std::uint32_t last =
            warp.warp * kWarpLanes + 31 - static_cast<std::uint32_t>(std::countl_zero(group.lanes));
        const bool has_focus =
            block.block == stop.focus.block &&
            stop.block.linear(stop.focus.thread) / kWarpLanes == warp.warp &&
            (group.lanes >> stop.block.linear(stop.focus.thread) % kWarpLanes & 1u) != 0;
        write_(fmt::format("{} block {} thread {}{}  warp {} lanes {}: {}\n", has_focus ? '*' : ' ',
                           triple(block.block), triple(stop.block.position_of(first)),
                           first == last ? "" : " to " + triple(stop.block.position_of(last)),
                           warp.warp, lanes_text(group.lanes),
                           state_and_place_of(group.state, first == last)));
      }
    }
  }
}

void Prompt::show_warps(const std::string&) {
  const Stop& stop = session_.stop();
  for (const BlockState& block : session_.blocks()) {
    write_(fmt::format("block {}, {} passed\n", triple(block.block),
                       counted(block.barriers_passed, "barrier")));
    for (const WarpState& warp : block.warps) {
      std::string text;
      for (const LaneGroup& group : warp.groups) {
        text += fmt::format("{}lanes {} {}", text.empty() ? "" : "; ", lanes_text(group.lanes),
                            state_of(group.state, std::has_single_bit(group.lanes)));
      }
      const bool runs = block.block == stop.focus.block && warp.warp == stop.warp;
      write_(fmt::format("{} warp {}: {}\n", runs ? '*' : ' ', warp.warp, text));
    }
  }
}

// The lanes of the warp in focus, one by one.
void Prompt::show_lanes(const std::string&) {
  const Stop& stop = running();
  const std::uint32_t linear = stop.block.linear(stop.focus.thread);
  for (const BlockState& block : session_.blocks()) {
    if (block.block != stop.focus.block) continue;
    const WarpState& warp = block.warps.at(linear / kWarpLanes);
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      for (const LaneGroup& group : warp.groups) {
        if ((group.lanes >> lane & 1u) == 0) continue;
        const Dim3 thread = stop.block.position_of(warp.warp * kWarpLanes + lane);
        write_(fmt::format("{} lane {:>2} thread {}: {}\n", lane == linear % kWarpLanes ? '*' : ' ',
                           lane, triple(thread), state_and_place_of(group.state, true)));
      }
    }
  }
}

// The resident ones: how many threads of each are in which state.
void Prompt::show_blocks(const std::string&) {
  const Stop& stop = running();
  for (const BlockState& block : session_.blocks()) {
    std::map<std::string, std::pair<LaneState, std::size_t>> threads;
    for (const WarpState& warp : block.warps) {
      for (const LaneGroup& group : warp.groups) {
        auto& [state, count] = threads[state_of(group.state, false)];
        state = group.state;
        count += static_cast<std::size_t>(std::popcount(group.lanes));
      }
    }
    std::string text;
    for (const auto& [name, of] : threads) {
      text += fmt::format("{}{} {}", text.empty() ? "" : "; ", counted(of.second, "thread"),
                          state_of(of.first, of.second == 1));
    }
    write_(fmt::format("{} block {}, {} passed: {}\n", block.block == stop.focus.block ? '*' : ' ',
                       triple(block.block), counted(block.barriers_passed, "barrier"), text));
  }
}

void Prompt::show_kernel(const std::string&) {
  const Stop& stop = running();
  write_(fmt::format("* launch {}: {}, grid {} block {}; {} resident\n", stop.launch, stop.kernel,
                     triple(stop.grid), triple(stop.block),
                     counted(session_.blocks().size(), "block")));
}

// All, or those that are named.
void Prompt::show_registers(const std::string& names) {
  const std::vector<Frame> frames = session_.frames(session_.stop().focus);
  const std::uint32_t physical = frame_ < frames.size() ? frames[frame_].physical : 0;
  std::vector<Register> all = session_.registers(session_.stop().focus, physical);
  const std::vector<std::string> wanted = words_of(names);
  for (const std::string& name : wanted) {
    const bool exists = std::ranges::any_of(all, [&](const Register& r) { return r.name == name; });
    if (!exists) {
      throw DebugError(
          fmt::format("no register '{}' in this function: they are %r1, %p1 ...; all "
                      "are listed by: info registers",
                      name));
    }
  }
  if (!wanted.empty()) {
    std::erase_if(
        all, [&](const Register& r) { return std::ranges::find(wanted, r.name) == wanted.end(); });
  }
  const std::vector<bool> is_written = inspector_.are_written(all, here());
  for (std::size_t i = 0; i < all.size(); ++i) write_(text_of_register(all[i], is_written[i]));
}

void Prompt::show_findings(const std::string&) {
  const std::vector<FoundFinding> all = session_.findings();
  if (all.empty()) return write_("no findings so far\n");
  for (const FoundFinding& each : all) {
    write_(fmt::format("{:>3} position {}: {}\n", each.index + 1, each.position,
                       vgpu::headline_of(each.finding)));
    for (std::size_t i = 0; i < each.finding.accesses.size(); ++i) {
      const vgpu::AccessSide& side = each.finding.accesses[i];
      write_(fmt::format("      ({}) {} by block {} thread {} at {}:{}\n", i + 1, side.role,
                         triple(side.block), triple(side.thread), file_name(side.file), side.line));
    }
  }
}

void Prompt::show_locals(const std::string&) {
  for (const auto& list : {inspector_.arguments(here()), inspector_.locals(here())}) {
    for (const Inspector::Shown& each : list) {
      write_(fmt::format("{} = {}\n", each.value.name, each.text));
    }
  }
  const std::string missing = inspector_.missing_variables();
  if (!missing.empty()) write_(missing + "\n");
}

void Prompt::show_globals(const std::string&) {
  const std::vector<Inspector::Shown> all = inspector_.globals(here());
  if (all.empty()) write_("the kernel's module has no variables\n");
  for (const Inspector::Shown& each : all) {
    write_(fmt::format("{} = {}\n", each.value.name, each.text));
  }
}

// Those of the running kernel, inlined ones too, each where its code begins.
void Prompt::show_functions(const std::string&) {
  std::set<std::string> seen;
  for (const KernelText::Instruction& each : session_.kernel_text().instructions) {
    if (each.at.function.empty() || !seen.insert(each.at.function).second) continue;
    write_(fmt::format("{} at {}:{}\n", each.at.function, file_name(each.at.file), each.at.line));
  }
}

void Prompt::show_sources(const std::string&) {
  for (const std::string& file : session_.source_files()) {
    if (!file.empty()) write_(file + "\n");  // empty: code without -lineinfo
  }
}

void Prompt::show_checkpoints(const std::string&) { write_(session_.checkpoints() + "\n"); }

}  // namespace warpcheck::debug
