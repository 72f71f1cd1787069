#include "vgpu/differential/compare.hpp"

#include <fmt/format.h>

#include <utility>

#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/differential/reference/reference.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns "%r3 of thread 7" for a byte of the buffer, with the start of that register.
std::string place_of(std::size_t at, std::uint32_t threads) {
  const std::size_t outputs = std::size_t{threads} * kOutputBytes;
  if (at >= outputs + std::size_t{threads} * kPrivateBytes) {
    return fmt::format("cell byte {}", at - outputs - threads * kPrivateBytes);
  }
  if (at >= outputs) {
    const std::size_t offset = at - outputs;
    return fmt::format("memory byte {} of thread {}", offset % kPrivateBytes,
                       offset / kPrivateBytes);
  }
  const std::size_t thread = at / kOutputBytes, offset = at % kOutputBytes;
  const std::string name = offset < 32   ? fmt::format("%r{}", offset / 4)
                           : offset < 64 ? fmt::format("%d{}", (offset - 32) / 8)
                           : offset < 72 ? fmt::format("%h{}", (offset - 64) / 2)
                                         : std::string("a predicate");
  return fmt::format("{} (byte {}) of thread {}", name, offset, thread);
}

struct Difference {
  std::string text, parties;
};

Difference between(const Result& found, std::string_view finder, const Result& expected,
                   std::string_view expecter, std::uint32_t threads) {
  for (const auto& [result, name] : {std::pair(&found, finder), std::pair(&expected, expecter)}) {
    if (result->problem.empty()) continue;
    std::string text = fmt::format("{}: {}", name, result->problem);
    return {text, std::move(text)};
  }
  for (std::size_t i = 0; i < expected.bytes.size(); ++i) {
    if (found.bytes.at(i) == expected.bytes[i]) continue;
    return {fmt::format("{} is {:#04x} by {}, {:#04x} by {}", place_of(i, threads), found.bytes[i],
                        finder, expected.bytes[i], expecter),
            fmt::format("{} and {}", finder, expecter)};
  }
  return {};
}

// Compares the machine with itself in all its modes.
Difference difference_within(const ptx::Module& module, std::uint32_t threads,
                             const Result& plain) {
  for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > host_simd_level()) break;
    const Result other = run_on_machine(module, threads, {.level = level});
    Difference found = between(other, name_of(level), plain, "baseline", threads);
    if (!found.text.empty()) return found;
  }
  const MachineSettings random{.level = chosen_simd_level(), .strategy = "random", .seed = 1};
  const Result other = run_on_machine(module, threads, random);
  Difference found = between(other, "a random schedule", plain, "the default one", threads);
  if (!found.text.empty()) return found;
  const Result checked =
      run_on_machine(module, threads, {.level = chosen_simd_level(), .checks = true});
  found = between(checked, "the checked machine", plain, "the unchecked one", threads);
  if (!found.text.empty()) return found;
  for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > host_simd_level()) break;
    for (const bool checks : {false, true}) {
      const MachineSettings compiled{.level = level, .checks = checks, .compiles = true};
      found = between(run_on_machine(module, threads, compiled),
                      fmt::format("machine code of {}", name_of(level)), plain, "the interpreter",
                      threads);
      if (!found.text.empty()) return found;
    }
  }
  return {};
}

// Without optimisation, an assembler translates the text literally.  A difference only with
// optimisation is most likely an error of the assembler: see docs/develop/conformance.md.
Difference difference_from_gpu(std::string_view text, std::uint32_t threads, const Result& plain,
                               const Engines& engines) {
  Difference found = between(plain, "the machine", engines.gpu->run(text, 0), "the GPU", threads);
  if (!found.text.empty() || !engines.optimized) return found;
  return between(plain, "the machine", engines.gpu->run(text, 4), "the GPU when optimised",
                 threads);
}

}  // namespace

Comparison compare(std::string_view text, std::string_view name, const Engines& engines) {
  Comparison result;
  const auto told = [&](Difference found) {
    if (found.text.empty()) return false;
    result.difference = fmt::format("{}: {}", name, found.text);
    result.parties = std::move(found.parties);
    return true;
  };
  try {
    const ptx::Module module = ptx::parse(text, name);
    const std::uint32_t threads = threads_of(text);
    const Result plain = run_on_machine(module, threads, {});
    if (told({plain.problem, plain.problem})) return result;
    if (told(difference_within(module, threads, plain))) return result;
    if (engines.reference) {
      const Result expected = run_on_reference(module, threads, result.unknown);
      if (result.unknown.empty() &&
          told(between(plain, "the machine", expected, "the reference", threads))) {
        return result;
      }
    }
    if (engines.gpu != nullptr) {
      told(difference_from_gpu(text, threads, plain, engines));
    }
  } catch (const Refusal& refusal) {
    told({refusal.what(), "a refusal"});
  } catch (const ptx::ParseError& error) {
    told({error.what(), "an error of the text"});
  }
  return result;
}

}  // namespace warpcheck::vgpu
