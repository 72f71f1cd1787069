#include "fuzz/crash_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "harness/pair/project.hpp"

namespace warpcheck::fuzz {
namespace {

using vgpu::AccessSide;
using vgpu::Finding;
using vgpu::FindingKind;

// Services rewrite it; a constant keeps the text the same for every run.
constexpr int kProcess = 1;

// "share[31], 4 bytes" -> 4; 1 if the object does not say.
std::string bytes_of(const Finding& finding) {
  const std::size_t end = finding.object.find(" byte");
  if (end == std::string::npos) return "1";
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(finding.object[begin - 1])) != 0) {
    --begin;
  }
  return begin == end ? "1" : finding.object.substr(begin, end - begin);
}

// "4 bytes at address 0x7fc0" -> "0x7fc0"; most objects have a name instead.
std::string address_of(const Finding& finding) {
  const std::size_t begin = finding.object.find("0x");
  if (begin == std::string::npos) return "0x000000000000";
  const std::size_t end = finding.object.find_first_not_of("0123456789abcdef", begin + 2);
  return finding.object.substr(begin, end - begin);
}

std::string place_of(const AccessSide& side) {
  if (side.file.empty()) return "unknown.cu:1";
  const std::filesystem::path file(side.file);
  const auto path = file.is_absolute() ? file : project().source_root / file;
  return fmt::format("{}:{}", path.generic_string(), std::max(side.line, 1U));
}

// The stack of one side: on a device it is the kernel alone.
std::string stack_of(const Finding& finding, std::size_t side) {
  if (side >= finding.accesses.size()) {
    return fmt::format("    #0 0x000000000001 in {} unknown.cu:1\n", finding.kernel);
  }
  return fmt::format("    #0 0x000000000001 in {} {}:1\n", finding.kernel,
                     place_of(finding.accesses[side]));
}

std::string capitalized(std::string word) {
  if (!word.empty()) word[0] = static_cast<char>(std::toupper(word[0]));
  return word;
}

// "read", "write": an atomic is a write.
std::string access_of(const AccessSide& side) {
  return side.role == "atomic" ? "atomic write" : side.role;
}

std::string race(const Finding& finding) {
  const std::string where = fmt::format("of size {} at {}", bytes_of(finding), address_of(finding));
  std::string text = fmt::format("WARNING: ThreadSanitizer: data race (pid={})\n", kProcess);
  for (std::size_t i = 0; i < std::min<std::size_t>(finding.accesses.size(), 2); ++i) {
    const std::string access = access_of(finding.accesses[i]);
    text += i == 0 ? fmt::format("  {} {} by thread T1:\n", capitalized(access), where)
                   : fmt::format("\n  Previous {} {} by thread T2:\n", access, where);
    text += stack_of(finding, i);
  }
  return text;
}

std::string address_error(const Finding& finding, std::string_view type) {
  const std::string role = finding.accesses.empty() ? "read" : finding.accesses.front().role;
  const std::string address = address_of(finding);
  return fmt::format(
      "=={}==ERROR: AddressSanitizer: {} on address {}\n{} of size {} at {} thread T0\n{}",
      kProcess, type, address, role == "read" ? "READ" : "WRITE", bytes_of(finding), address,
      stack_of(finding, 0));
}

std::string overflow(const Finding& finding) {
  if (finding.space == "local") return address_error(finding, "stack-buffer-overflow");
  if (finding.space == "shared" || finding.space == "constant" || finding.space == "param") {
    return address_error(finding, "global-buffer-overflow");
  }
  return address_error(finding, "heap-buffer-overflow");
}

std::string failed_check(const Finding& finding) {
  const std::string place =
      finding.accesses.empty() ? "unknown.cu:1" : place_of(finding.accesses[0]);
  // Numbers differ from input to input; the kind and the kernel do not.
  return fmt::format("F0101 12:00:00.000000 {} {}] Check failed: {} in {}\n{}", kProcess, place,
                     name_of(finding.kind), finding.kernel, stack_of(finding, 0));
}

std::string misaligned(const Finding& finding) {
  const bool is_load = !finding.accesses.empty() && finding.accesses.front().role == "read";
  const std::string place =
      finding.accesses.empty() ? "unknown.cu:1" : place_of(finding.accesses[0]);
  return fmt::format("{}:1: runtime error: {} misaligned address {} for type of {} bytes\n{}",
                     place, is_load ? "load of" : "store to", address_of(finding),
                     bytes_of(finding), stack_of(finding, 0));
}

}  // namespace

std::string crash_text(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::data_race: return race(finding);
    case FindingKind::out_of_bounds: return overflow(finding);
    case FindingKind::misaligned_access: return misaligned(finding);
    case FindingKind::uninitialized_read:
      return fmt::format("=={}==WARNING: MemorySanitizer: use-of-uninitialized-value\n{}", kProcess,
                         stack_of(finding, 0));
    case FindingKind::use_after_free: return address_error(finding, "heap-use-after-free");
    case FindingKind::invalid_free:
      return fmt::format(
          "=={}==ERROR: AddressSanitizer: attempting free on address which was not malloc()-ed: "
          "{}\n{}",
          kProcess, address_of(finding), stack_of(finding, 0));
    case FindingKind::leak:
      return fmt::format(
          "=={}==ERROR: LeakSanitizer: detected memory leaks\n\n"
          "Direct leak of {} byte(s) in 1 object(s) allocated from:\n{}",
          kProcess, bytes_of(finding), stack_of(finding, 0));
    case FindingKind::barrier_divergence:
    case FindingKind::not_a_number:
    case FindingKind::infinity:
    case FindingKind::lossy_conversion:
    case FindingKind::wrapped_integer:
    case FindingKind::ignored_nan:
    case FindingKind::underflow:
    case FindingKind::rounding_error:
    case FindingKind::deadlock:
    case FindingKind::trap:
    case FindingKind::mismatch:
    case FindingKind::schedule_dependent:
    case FindingKind::api_error: break;
  }
  return failed_check(finding);
}

std::string crash_text(const Verdict& verdict) {
  const auto error = std::ranges::find(verdict.findings, vgpu::Severity::error, &Finding::severity);
  return error == verdict.findings.end() ? "" : crash_text(*error);
}

}  // namespace warpcheck::fuzz
