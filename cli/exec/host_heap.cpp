#include "cli/exec/host_heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "vgpu/text/file_text.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;
using cudart::Arrival;

constexpr std::string_view kPerturb = "glibc.malloc.perturb=";
constexpr std::string_view kVariable = "MALLOC_PERTURB_=";
constexpr std::string_view kTunables = "GLIBC_TUNABLES=";
constexpr std::size_t kKeptMax = 32;  // operations of a repeated run
constexpr std::string_view kUnfilled = "an unfilled heap";

// A run with the heap as it is and one with the heap filled, of one schedule.
struct Pair {
  RunOutput unfilled, filled;
  fs::path unfilled_text, filled_text;  // their standard outputs
};

// The bytes of the filled run that the other one does not have, and how many are the filling.
struct Changed {
  std::size_t first = 0;  // its offset
  std::size_t bytes = 0, of_filling = 0, all = 0;
  bool were_zero = true;  // without the filling
};

Changed changes_between(const std::string& unfilled, const std::string& filled, unsigned heap) {
  Changed changed;
  changed.all = filled.size();
  for (std::size_t i = 0; i < filled.size(); ++i) {
    if (i < unfilled.size() && unfilled[i] == filled[i]) continue;
    if (changed.bytes++ == 0) changed.first = i;
    if (static_cast<unsigned char>(filled[i]) == heap) ++changed.of_filling;
    changed.were_zero = changed.were_zero && i < unfilled.size() && unfilled[i] == 0;
  }
  return changed;
}

bool is_of_bytes(const OutputKey& key) { return key.kind <= OutputKey::Kind::memory; }

// What has come to the host: it may have gone to the device and come back as it was.
bool has_only_come_back(const Pair& pair, const OutputKey& key, unsigned heap) {
  if (!is_of_bytes(key)) return false;
  const std::string unfilled =
      kept_bytes(pair.unfilled, key.process, arrival_of(pair.unfilled, key));
  const std::string filled = kept_bytes(pair.filled, key.process, arrival_of(pair.filled, key));
  if (unfilled.size() != filled.size()) return false;
  const Changed changed = changes_between(unfilled, filled, heap);
  return changed.of_filling == changed.bytes;
}

// What differs between the runs of a pair, and is the same in all pairs.
struct Differences {
  std::vector<OutputKey> outputs;
  std::vector<InputKey> inputs;       // of the last pair
  std::vector<std::string> findings;  // classes that only filled runs have
  std::string text;                   // of the standard output
  [[nodiscard]] bool are_none() const {
    return outputs.empty() && findings.empty() && text.empty();
  }
};

std::string difference_of_standard_output(const Pair& pair) {
  return difference_of_texts(text_of_file(pair.unfilled_text), text_of_file(pair.filled_text),
                             kUnfilled);
}

Differences differences_of(const Pair& pair) {
  return {.outputs = differences(pair.unfilled, pair.filled),
          .inputs = input_differences(pair.unfilled, pair.filled),
          .findings = without(classes_of(pair.filled), classes_of(pair.unfilled)),
          .text = difference_of_standard_output(pair)};
}

// Drops what the two runs of one kind do not agree on.
//   has_filling: a copy to the device brings the filling.  Then unfilled runs may differ, as memory
//                that was used before holds addresses.
void keep_steady(Differences& found, const Pair& once, const Pair& again, bool has_filling) {
  found.outputs = without(std::move(found.outputs), differences(once.filled, again.filled));
  if (!has_filling) {
    found.outputs = without(std::move(found.outputs), differences(once.unfilled, again.unfilled));
  }
  found.findings = without(std::move(found.findings), classes_of(once.unfilled));
  const std::vector<std::string> known = classes_of(once.filled);
  std::erase_if(found.findings, [&](const std::string& name) {
    return std::ranges::find(known, name) == known.end();
  });
  const auto differs = [](const fs::path& a, const fs::path& b) {
    return !difference_of_texts(text_of_file(a), text_of_file(b), "").empty();
  };
  if (differs(once.filled_text, again.filled_text) ||
      (!has_filling && differs(once.unfilled_text, again.unfilled_text))) {
    found.text.clear();
  }
}

Changed changes_of(const Pair& pair, const InputKey& key, unsigned heap) {
  const Arrival& before = pair.unfilled.processes[key.process].log.arrivals[key.entry];
  const Arrival& after = pair.filled.processes[key.process].log.arrivals[key.other];
  return changes_between(kept_bytes(pair.unfilled, key.process, before),
                         kept_bytes(pair.filled, key.process, after), heap);
}

bool was_zero(const Pair& pair, const InputKey& key, unsigned heap) {
  return changes_of(pair, key, heap).were_zero;
}

// "0x3 (3), under an unfilled heap 0x1 (1)" to "0x3 (3)"
std::string without_the_other(const std::string& text) {
  return text.substr(0, text.find(fmt::format(", under {}", kUnfilled)));
}

// The copy of which the greatest part has changed, as padding is a small part; of equal ones, the
// first.  If no copy has changed: the first launch.  Null: nothing has changed.
const InputKey* likeliest(const Pair& pair, const std::vector<InputKey>& inputs, unsigned heap,
                          std::size_t* byte) {
  const InputKey* best = nullptr;
  double best_part = -1;
  for (const InputKey& key : inputs) {
    const Arrival& before = pair.unfilled.processes[key.process].log.arrivals[key.entry];
    double part = 0;
    std::size_t first = 0;
    if (before.kind == Arrival::Kind::to_device) {
      const Changed changed = changes_of(pair, key, heap);
      first = changed.first;
      part = changed.all == 0
                 ? 0.0
                 : static_cast<double>(changed.bytes) / static_cast<double>(changed.all);
      part += 1e-9;  // a copy whose bytes were not kept still comes before a launch
    }
    if (part <= best_part) continue;
    best = &key;
    best_part = part;
    *byte = first;
  }
  return best;
}

// Whether a copy to the device has words of the filling where it has others without it.
bool brings_filling(const Pair& pair, const std::vector<InputKey>& inputs, unsigned heap) {
  constexpr std::size_t kLeast = 4;
  return std::ranges::any_of(inputs, [&](const InputKey& key) {
    const Arrival& before = pair.unfilled.processes[key.process].log.arrivals[key.entry];
    if (before.kind != Arrival::Kind::to_device) return false;
    const Changed changed = changes_of(pair, key, heap);
    return changed.of_filling >= kLeast && changed.of_filling == changed.bytes;
  });
}

// "filled with 0xfe, it leads to out-of-bounds in kernel k".  Memory that was used before differs
// from machine to machine, so what it leads to is not shown.
std::string consequence_text(const Pair& pair, const Differences& found, unsigned heap,
                             bool was_zero) {
  std::string text = fmt::format("filled with 0x{:02x}, it leads to ", heap);
  for (const RunOutput::Process& process : pair.filled.processes) {
    for (const RunOutput::Reported& reported : process.reported) {
      const std::string name = vgpu::class_of(reported.finding);
      if (std::ranges::find(found.findings, name) == found.findings.end()) continue;
      text += vgpu::name_of(reported.finding.kind);
      if (!reported.finding.kernel.empty())
        text += fmt::format(" in kernel {}", reported.finding.kernel);
      return text;
    }
  }
  if (!found.outputs.empty()) {
    const OutputKey& key = found.outputs.front();
    if (is_of_bytes(key)) {
      const Arrival& before = arrival_of(pair.unfilled, key);
      const Arrival& after = arrival_of(pair.filled, key);
      std::size_t at = 0;
      std::string difference =
          show_difference(kept_bytes(pair.unfilled, key.process, before),
                          kept_bytes(pair.filled, key.process, after), kUnfilled, &at);
      if (!was_zero) difference = without_the_other(difference);
      const std::string place = key.kind == OutputKey::Kind::copy
                                    ? place_in_copy(pair.filled, key.process, after, at, "host")
                                    : "in memory of host and device";
      text += fmt::format("{} {}", difference, place);
    } else if (key.kind == OutputKey::Kind::prints) {
      text += "other text of device code";
    } else {
      text += fmt::format("exit status {}, under {} {}", pair.filled.status, kUnfilled,
                          pair.unfilled.status);
    }
    if (!found.text.empty()) text += "; ";
  }
  return text + (was_zero ? found.text : without_the_other(found.text));
}

vgpu::Finding finding_of(const Pair& pair, const Differences& found, unsigned heap) {
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::uninitialized_read;
  finding.space = "host";
  std::size_t byte = 0;
  const InputKey* const input = likeliest(pair, found.inputs, heap, &byte);
  const std::string consequence =
      consequence_text(pair, found, heap, input == nullptr || was_zero(pair, *input, heap));
  if (input == nullptr) {
    const bool is_of_device =
        !found.findings.empty() || std::ranges::any_of(found.outputs, [](const OutputKey& key) {
          return key.kind != OutputKey::Kind::status;
        });
    if (!is_of_device) finding.severity = vgpu::Severity::note;
    finding.object = "of the heap";
    finding.message =
        "memory of the host's heap that nothing has written decides what the program does: " +
        consequence;
    return finding;
  }
  const RunOutput::Process& process = pair.filled.processes[input->process];
  const Arrival& entry = process.log.arrivals[input->other];
  const bool is_copy = entry.kind == Arrival::Kind::to_device;
  vgpu::AccessSide side;
  side.role = is_copy ? "host copy" : "host call";
  if (entry.call < process.calls.size()) {
    side.file = process.calls[entry.call].file;
    side.line = process.calls[entry.call].line;
  }
  if (is_copy) {
    finding.object = place_in_copy(pair.filled, input->process, entry, byte, "device");
    const auto copies = std::ranges::count_if(found.inputs, [&](const InputKey& other) {
      return process.log.arrivals[other.other].kind == Arrival::Kind::to_device;
    });
    finding.message =
        fmt::format("(1) copies memory of the host's heap that nothing has written{}, and ",
                    copies > 1 ? fmt::format(" (one of {} such copies)", copies) : "");
  } else {
    if (entry.kernel != 0 && entry.kernel <= process.kernels.size()) {
      finding.kernel = vgpu::kernel_name(process.kernels[entry.kernel - 1].name);
    }
    finding.object = "in the arguments of a launch";
    finding.message =
        "the arguments or the configuration of (1) come from memory of the host's heap that "
        "nothing has written, and ";
  }
  finding.message += "this decides: " + consequence;
  finding.accesses.push_back(std::move(side));
  return finding;
}

}  // namespace

std::vector<std::string> classes_of(const RunOutput& output) {
  std::vector<std::string> classes;
  for (const RunOutput::Process& process : output.processes) {
    for (const RunOutput::Reported& reported : process.reported) {
      std::string name = vgpu::class_of(reported.finding);
      if (std::ranges::find(classes, name) == classes.end()) classes.push_back(std::move(name));
    }
  }
  return classes;
}

HostHeap::Examined HostHeap::examine(int run, unsigned heap, const RunOutput& output) const {
  Examined examined;
  const auto text_of = [&](std::string_view which) {
    return directory_ / fmt::format("output-{}-{}", run, which);
  };
  const auto repeat = [&](unsigned filling, const std::vector<std::uint32_t>& kept,
                          const fs::path& text) {
    const ProgramRun again = repeat_({run, filling, kept, text});
    examined.timed_out = examined.timed_out || again.timed_out;
    return output_of(again);
  };
  Pair once{.unfilled_text = text_of("unfilled"), .filled_text = text_of("filled")};
  once.unfilled = repeat(0, {}, once.unfilled_text);
  examined.unfilled = once.unfilled;
  if (examined.timed_out) return examined;
  if (differences(once.unfilled, output).empty() &&
      classes_of(once.unfilled) == classes_of(output)) {
    return examined;
  }
  once.filled = repeat(heap, {}, once.filled_text);
  if (examined.timed_out) return examined;
  const Differences first = differences_of(once);
  std::vector<std::uint32_t> kept;
  for (const InputKey& key : first.inputs) {
    kept.push_back(once.filled.processes[key.process].log.arrivals[key.other].operation);
  }
  if (kept.size() > kKeptMax) kept.resize(kKeptMax);
  for (const OutputKey& key : first.outputs) {
    if (is_of_bytes(key) && kept.size() < 2 * kKeptMax) kept.push_back(key.operation);
  }
  Pair again{.unfilled_text = text_of("unfilled-again"), .filled_text = text_of("filled-again")};
  again.unfilled = repeat(0, kept, again.unfilled_text);
  again.filled = repeat(heap, kept, again.filled_text);
  if (examined.timed_out) return examined;
  Differences found = differences_of(again);
  const bool differed = !found.are_none();
  keep_steady(found, once, again, brings_filling(again, found.inputs, heap));
  if (found.text.empty()) {
    std::erase_if(found.outputs,
                  [&](const OutputKey& key) { return has_only_come_back(again, key, heap); });
  }
  examined.is_unsteady = differed && found.are_none();
  if (found.outputs.empty() && found.findings.empty() &&
      (found.text.empty() || found.inputs.empty())) {
    return examined;
  }
  examined.finding = finding_of(again, found, heap);
  examined.consequences = std::move(found.findings);
  return examined;
}

bool may_fill_heap() {
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  const bool is_set =
      tunables != nullptr && std::string_view(tunables).find(kPerturb) != std::string_view::npos;
  return !is_set && std::getenv("MALLOC_PERTURB_") == nullptr;
}

// malloc() gives bytes with the inverse of the low byte of the tunable's value (The GNU C Library,
// "Memory Allocation Tunables").
void fill_heap(std::vector<std::string>& environment, unsigned heap) {
  std::string tunables = fmt::format("{}{}:glibc.malloc.tcache_count=0", kPerturb, heap ^ 0xffu);
  std::erase_if(environment, [&](const std::string& entry) {
    if (entry.starts_with(kTunables)) tunables = entry.substr(kTunables.size()) + ":" + tunables;
    return entry.starts_with(kTunables) || entry.starts_with(kVariable);
  });
  environment.push_back(std::string(kTunables) + tunables);
}

}  // namespace warpcheck
