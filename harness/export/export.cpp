#include "harness/export/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "harness/export/source_text.hpp"
#include "harness/pair/device.hpp"
#include "harness/pair/expectations.hpp"
#include "harness/trial/engine.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck {
namespace {

using cudart::Call;
using cudart::DownloadCall;
using cudart::LaunchCall;

struct Recorded {
  cudart::CallLog log;
  AnyOutput output;  // null: a property, or the kernel returned none
};

// Stops recording at the end of the trial, also by an exception.
class Recording {
 public:
  explicit Recording(cudart::CallLog& log) { cudart::record_calls(&log); }
  ~Recording() { cudart::record_calls(nullptr); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

Recorded record_calls_of(const Case& a_case) {
  Recorded recorded;
  const Recording recording(recorded.log);
  const TrialSettings settings{.build = a_case.settings.build,
                               .warp_model = a_case.settings.warp_model,
                               .checkers = a_case.settings.checkers,
                               .limits = a_case.settings.limits};
  const TrialResult result = virtual_gpu().run(settings, [&] {
    try {
      if (a_case.property.empty()) {
        recorded.output = a_case.pair->run_kernel(a_case.input);
        return;
      }
      std::vector<std::string> failures;
      const PropertyEntry* const property = a_case.pair->find_property(a_case.property);
      capture_expectations([&] { property->body(a_case.input); }, failures);
    } catch (const std::exception&) {  // the calls until then belong to the case
    }
  });
  if (!result.refusals.empty()) throw ExportError("cannot run: " + result.refusals.front());
  return recorded;
}

std::vector<const DownloadCall*> downloads_of(const std::vector<Call>& calls) {
  std::vector<const DownloadCall*> downloads;
  for (const Call& call : calls) {
    if (const auto* download = std::get_if<DownloadCall>(&call)) downloads.push_back(download);
  }
  return downloads;
}

// The last consecutive downloads that have these bytes; empty: there are none.
struct Range {
  std::size_t first = 0, last = 0;
};
std::optional<Range> downloads_holding(const std::vector<const DownloadCall*>& downloads,
                                       const std::vector<std::byte>& bytes) {
  for (std::size_t last = downloads.size(); last-- > 0;) {
    std::vector<std::byte> joined;
    for (std::size_t first = last + 1; first-- > 0 && joined.size() < bytes.size();) {
      joined.insert(joined.begin(), downloads[first]->bytes.begin(), downloads[first]->bytes.end());
      if (joined == bytes) return Range{first, last};
    }
  }
  return std::nullopt;
}

// The values as floats if all doubles are floats.
std::optional<std::vector<std::byte>> narrowed(const PlainOutput& output) {
  if (output.element != "double") return std::nullopt;
  std::vector<std::byte> bytes(output.size() * sizeof(float));
  for (std::size_t i = 0; i < output.size(); ++i) {
    double wide = 0;
    std::memcpy(&wide, output.bytes.data() + i * sizeof wide, sizeof wide);
    const auto narrow = static_cast<float>(wide);
    if (static_cast<double>(narrow) != wide && wide == wide) return std::nullopt;
    std::memcpy(bytes.data() + i * sizeof narrow, &narrow, sizeof narrow);
  }
  return bytes;
}

void expect_reference(const Case& a_case, const Recorded& recorded, ExportedCase& exported) {
  if (!a_case.property.empty()) {
    exported.not_compared = "the case is of a property, whose claim is C++ code of the pair";
    return;
  }
  if (!a_case.pair->has_reference()) {
    exported.not_compared = "the pair has no reference";
    return;
  }
  if (a_case.pair->reference_kernel() != nullptr) {
    exported.not_compared = "the pair's reference is another kernel";
    return;
  }
  if (recorded.output == nullptr) {
    exported.not_compared = "a CUDA call failed before there was an output";
    return;
  }
  const auto output = a_case.pair->plain_output(recorded.output);
  const auto reference = a_case.pair->plain_output(a_case.pair->run_reference(a_case.input));
  const PlainRule rule = a_case.pair->plain_rule(a_case.input);
  if (!output || !reference || rule.comparison == Comparison::custom) {
    exported.not_compared = "outputs of this pair are compared by C++ code of the pair";
    return;
  }
  const auto downloads = downloads_of(recorded.log.calls());
  std::string downloaded(output->element);
  auto range = downloads_holding(downloads, output->bytes);
  if (const auto narrow = narrowed(*output); !range && narrow) {
    range = downloads_holding(downloads, *narrow);
    downloaded = "float";
  }
  if (!range || output->bytes.size() != reference->bytes.size()) {
    exported.not_compared = "the output is computed on the host from what is copied back";
    return;
  }
  if (rule.comparison == Comparison::same_elements && range->first != range->last) {
    exported.not_compared = "elements in any order come from several copies";
    return;
  }
  exported.expected = ExpectedDownloads{range->first, range->last, *reference, downloaded, rule};
}

// nvcc has one set of options for a program.
std::string common_options(const std::vector<Call>& calls) {
  std::set<std::string> all;
  for (const Call& call : calls) {
    if (const auto* launch = std::get_if<LaunchCall>(&call)) all.insert(launch->source.options);
  }
  if (all.size() > 1) {
    throw ExportError(fmt::format("its kernels are compiled with different options: '{}', '{}'",
                                  *all.begin(), *all.rbegin()));
  }
  return all.empty() ? "" : *all.begin();
}

std::string sources_of(const std::vector<Call>& calls) {
  std::optional<SourceText> text;
  for (const Call& call : calls) {
    const auto* launch = std::get_if<LaunchCall>(&call);
    if (launch == nullptr) continue;
    const cudart::KernelSource& source = launch->source;
    if (source.path.empty()) {
      throw ExportError(
          fmt::format("the source of kernel {} is not known; compile it with warpcheck_kernels()",
                      vgpu::kernel_name(launch->kernel)));
    }
    if (!text) text.emplace(source.root);
    text->search_in(source.includes);
    text->add(source.path);
  }
  return text ? text->text() : "";
}

}  // namespace

ExportedCase record_for_export(const CaseRecord& record, std::string file) {
  const Case& a_case = record.a_case;
  const Recorded recorded = record_calls_of(a_case);
  const std::vector<Call>& calls = recorded.log.calls();
  ExportedCase exported;
  exported.title = a_case.title();
  exported.file = std::move(file);
  exported.summary = a_case.pair->summary(a_case.input);
  for (const vgpu::FindingKind kind : record.kinds) exported.kinds.emplace_back(name_of(kind));
  exported.options = common_options(calls);
  // -G includes line numbers.
  const char* const lines = a_case.settings.build == Build::unoptimized ? "-G" : "-lineinfo";
  exported.options = exported.options.empty() ? lines : lines + (" " + exported.options);
  exported.sources = sources_of(calls);
  exported.calls = calls;
  expect_reference(a_case, recorded, exported);
  return exported;
}

}  // namespace warpcheck
