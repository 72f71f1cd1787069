#include "vgpu/cudart/api/calls/api_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/api/calls/call_place.hpp"
#include "vgpu/cudart/api/calls/known_addresses.hpp"
#include "vgpu/cudart/device/enum_number.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/driver/driver_errors.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/host_watch/host_watch.hpp"
#include "vgpu/cudart/libraries/library_interface.hpp"

namespace warpcheck::cudart {
namespace {

// Calls that allocate, move data, launch or wait: if one fails, work is missing.  Others change
// only how work is done, or end something.  Beginnings of names without "cuda" or "cu".
constexpr std::array kWork = std::to_array<std::string_view>(
    {"DeviceSynchronize", "CtxSynchronize", "EventRecord", "EventSynchronize", "GraphLaunch",
     "HostAlloc", "Launch", "Malloc", "MemAlloc", "Memcpy", "Memset", "StreamSynchronize",
     "StreamWaitEvent"});

bool does_work(std::string_view call) {
  if (call == "cudaSetDevice") return true;
  call.remove_prefix(call.starts_with("cuda") ? 4 : std::min<std::size_t>(call.size(), 2));
  return std::ranges::any_of(kWork, [&](std::string_view name) { return call.starts_with(name); });
}

bool never_reads_result(const std::vector<const void*>& return_addresses) {
  const HostWatch* const watch = host_watch();
  return watch != nullptr && watch->never_reads_result(return_addresses);
}

// Queries, and operations whose failure is an ordinary answer.
constexpr std::array<std::string_view, 52> kQuestions{
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxGetFlags",
    "cuDeviceCanAccessPeer",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetByPCIBusId",
    "cuDeviceGetCount",
    "cuDeviceGetLuid",
    "cuDeviceGetP2PAttribute",
    "cuFuncGetAttribute",
    "cuFuncGetParamInfo",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGetProcAddress",
    "cuGraphExecUpdate",
    "cuKernelGetAttribute",
    "cuKernelGetParamInfo",
    "cuLibraryGetGlobal",
    "cuLibraryGetKernel",
    "cuLibraryGetManaged",
    "cuMemGetAddressRange",
    "cuMemHostGetFlags",
    "cuModuleGetFunction",
    "cuModuleGetGlobal",
    "cuPointerGetAttribute",
    "cuPointerGetAttributes",
    "cuStreamGetCaptureInfo",
    "cudaArrayGetInfo",
    "cudaChooseDevice",
    "cudaDeviceCanAccessPeer",
    "cudaDeviceGetAttribute",
    "cudaDeviceGetByPCIBusId",
    "cudaDeviceGetP2PAttribute",
    "cudaFuncGetAttributes",
    "cudaFuncGetName",
    "cudaFuncGetParamInfo",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetDriverEntryPoint",
    "cudaGetDriverEntryPointByVersion",
    "cudaGetKernel",
    "cudaGraphExecUpdate",
    "cudaHostGetFlags",
    "cudaMemRangeGetAttribute",
    "cudaMemRangeGetAttributes",
    "cudaPointerGetAttributes",
    "cudaStreamGetAttribute",
    "cudaStreamGetCaptureInfo",
    "cudaStreamIsCapturing",
    "__cudaGetKernel",
    "__cudaInitModule",
};

// Returns the memory that a copy or fill should have written; null: none.
const vgpu::Allocation* target_of(const KnownAddresses& known, const ApiCall& call) {
  const std::string_view name = call.name;
  const bool writes = name.starts_with("cudaMemcpy") || name.starts_with("cudaMemset") ||
                      name.starts_with("cuMemcpy") || name.starts_with("cuMemset");
  if (!writes) return nullptr;
  return known.memory_at(reinterpret_cast<const void*>(call.registers[0]));
}

// Returns "cudaMalloc(&pointer, 8589934592) failed before: cudaErrorMemoryAllocation, sums.cu:12".
std::string as_cause(const vgpu::Finding& finding, std::string_view error, const CallPlace& place) {
  const auto name = place.file.substr(place.file.rfind('/') + 1);
  const std::string where =
      place.file.empty() ? place.code : fmt::format("{}:{}", name, place.line);
  return fmt::format("{} failed before: {}{}{}", finding.object, error, where.empty() ? "" : ", ",
                     where);
}

vgpu::AccessSide host_call_at(const CallPlace& place) {
  vgpu::AccessSide side;
  side.role = "host call";
  side.file = place.file;
  side.line = place.line;
  return side;
}

void describe_code(const CallPlace& place, vgpu::Finding& finding) {
  if (!place.file.empty() || place.code.empty()) return;
  finding.message += fmt::format("; it is called in {}", place.code);
}

}  // namespace

ErrorText text_of(const cudaError_t& error) {
  switch (number_of(error)) {
#define ERROR(name, text) \
  case name:              \
    return {#name, text};
#include "vgpu/cudart/api/calls/errors.def"
#undef ERROR
    default: return {"unrecognized error code", "unrecognized error code"};
  }
}

bool is_question(std::string_view call, cudaError_t error) {
  if (error == cudaErrorNotReady || error == cudaErrorPeerAccessAlreadyEnabled) return true;
  call = without_suffixes(call);
  return call.starts_with("cudaOccupancy") || call.starts_with("cuOccupancy") ||
         std::ranges::find(kQuestions, call) != kQuestions.end();
}

void report_failed_library_call(Findings& findings, const LibraryFailure& failure) {
  const CallPlace place = place_of(callers_from(failure.return_address));
  const std::string key = fmt::format("{} {} {}:{} {}", failure.function, failure.answer,
                                      place.file, place.line, place.file.empty() ? place.code : "");
  findings.checkers().add(key, [&] {
    vgpu::Finding finding;
    finding.kind = vgpu::FindingKind::api_error;
    finding.severity = vgpu::Severity::note;
    finding.object = failure.call;
    finding.accesses.push_back(host_call_at(place));
    finding.message = fmt::format("(1) returned {}: {}", failure.answer, failure.why);
    describe_code(place, finding);
    findings.mishaps().describe(key, as_cause(finding, failure.answer, place),
                                findings.checkers().findings().size());
    return finding;
  });
  findings.mishaps().add(failure.function, key, nullptr);
}

std::optional<FailureReport> report_failed_call(Findings& findings, const KnownAddresses& known,
                                                cudaError_t error, std::string_view reason,
                                                const FailedCall& call) {
  const ApiCall& made = current_call();
  if (made.name == nullptr || is_question(made.name, error)) return {};
  std::vector<const void*> places = callers_from(made.return_address);
  if (call.return_address != nullptr) places.insert(places.begin(), call.return_address);
  const CallPlace place = place_of(places);
  const std::string key = fmt::format("{} {} {}:{} {}", made.name, number_of(error), place.file,
                                      place.line, place.file.empty() ? place.code : "");
  Mishaps& mishaps = findings.mishaps();
  findings.checkers().add(key, [&] {
    const auto [name, text] =
        is_driver_call(made) ? driver_text_of(result_of(error)) : text_of(error);
    vgpu::Finding finding;
    finding.kind = vgpu::FindingKind::api_error;
    finding.severity = vgpu::Severity::note;
    finding.kernel = call.kernel;
    finding.object = call.text.empty() ? describe(made, known) : call.text;
    finding.accesses.push_back(host_call_at(place));
    finding.message = fmt::format("(1) returned {}: {}", name, text);
    if (!reason.empty()) finding.message += fmt::format("; {}", reason);
    if (error == cudaErrorMemoryAllocation && ExecSession::instance() != nullptr) {
      finding.message +=
          "; `exec --memory` sets the size of the device's memory, and `--device` selects another "
          "device";
    }
    describe_code(place, finding);
    if (finding.object.find("nullptr") != std::string::npos) {
      finding.cause = mishaps.of_pointer_to_nothing();
    }
    mishaps.describe(key, as_cause(finding, name, place), findings.checkers().findings().size());
    return finding;
  });
  mishaps.add(made.name, key, target_of(known, made));
  return FailureReport{
      .finding = mishaps.finding_of(key),
      .needs_question = call.needs_question ||
                        (call.text.empty() && does_work(made.name) && never_reads_result(places))};
}

void raise_unasked(vgpu::Finding& finding) {
  finding.severity = vgpu::Severity::error;
  finding.message +=
      finding.kernel.empty()
          ? "; the program reads neither this result nor cudaGetLastError(), and goes on as if the "
            "call had succeeded"
          : "; the program never asks for this error (cudaGetLastError()), so nothing tells it "
            "that "
            "the kernel did not run";
}

}  // namespace warpcheck::cudart
