#include "cli/look/shown_programs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "cli/cli.hpp"
#include "harness/case/case_file.hpp"
#include "harness/pair/registry.hpp"
#include "harness/trial/trial.hpp"
#include "harness/trial/watched_engine.hpp"
#include "vgpu/check/trace/trace_options.hpp"
#include "vgpu/cudart/redirect/elf_file.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/ptx/fatbinary.hpp"

namespace warpcheck {
namespace {

constexpr std::size_t kNamesMax = 8;  // in a message

// Collects the programs that a trial launches.
class LaunchedPrograms final : public vgpu::Observer {
 public:
  [[nodiscard]] vgpu::Watched watches() const override {
    vgpu::Watched watched = vgpu::Watched::rare();
    watched.launches = true;
    return watched;
  }
  void on_sync(const vgpu::Sync& sync) override {
    if (sync.kind != vgpu::Sync::Kind::kernel_start) return;
    if (std::ranges::find(programs, sync.program) == programs.end()) {
      programs.push_back(sync.program);
    }
  }
  std::vector<const vgpu::Program*> programs;
};

void decode_shown(ShownPrograms& shown, const ptx::Module& module, const std::string& kernel) {
  vgpu::TraceOptions wanted;
  wanted.kernel = kernel;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || !function.has_body) continue;
    ShownKernel one{.name = function.name, .program = nullptr, .refusal = {}};
    const auto is_known = [&](const ShownKernel& other) { return other.name == one.name; };
    if (std::ranges::any_of(shown.kernels, is_known)) continue;
    if (vgpu::shows_kernel(wanted, function.name)) {
      try {
        auto program = std::make_unique<vgpu::Program>(vgpu::decode(module, function.name));
        vgpu::link(*program);
        one.program = program.get();
        shown.programs.push_back(std::move(program));
      } catch (const vgpu::Refusal& refusal) {
        one.refusal = refusal.what();
      }
    }
    shown.kernels.push_back(std::move(one));
  }
}

void add_shown_module(ShownPrograms& shown, ptx::Module module, const std::string& kernel) {
  shown.modules.push_back(std::make_unique<ptx::Module>(std::move(module)));
  decode_shown(shown, *shown.modules.back(), kernel);
}

// The newest text of each of the fatbinaries that follow each other in a section.
std::vector<std::string> texts_in_section(std::string_view section) {
  constexpr std::size_t kAlignment = 8;
  std::vector<std::string> texts;
  auto rest = std::as_bytes(std::span(section));
  while (rest.size() >= ptx::kFatbinaryHeaderBytes) {
    std::size_t size = 0;
    try {
      size = ptx::fatbinary_bytes(rest.first<ptx::kFatbinaryHeaderBytes>());
    } catch (const ptx::FatbinaryError&) {  // space between two of them
      rest = rest.subspan(std::min(rest.size(), kAlignment));
      continue;
    }
    const auto one = rest.first(std::min(size, rest.size()));
    rest = rest.subspan(one.size());
    try {
      const std::vector<ptx::PtxImage> images = ptx::read_fatbinary(one);
      if (!images.empty()) {
        texts.push_back(ptx::image_for(images, ptx::newest_ptx_target(one)).text);
      }
    } catch (const ptx::FatbinaryError&) {  // machine code alone
    }
  }
  return texts;
}

void show_program_file(ShownPrograms& shown, const std::string& file, std::string_view bytes,
                       const std::string& kernel) {
  const cudart::ElfFile elf(bytes);
  for (const std::string& text : texts_in_section(elf.section(".nv_fatbin"))) {
    add_shown_module(shown, ptx::parse(text, file), kernel);
  }
  std::vector<ptx::Module> parts;
  for (const std::string& text : texts_in_section(elf.section("__nv_relfatbin"))) {
    parts.push_back(ptx::parse(text, fmt::format("{}, part {}", file, parts.size() + 1)));
  }
  if (!parts.empty()) add_shown_module(shown, ptx::link_modules(std::move(parts), file), kernel);
  if (!shown.kernels.empty()) return;
  throw UsageError(
      fmt::format("{} contains no kernels as PTX; build it with `nvcc -arch=sm_NN` or -gencode "
                  "...,code=compute_"
                  "NN, and name the library that contains the kernels if it is another file",
                  file));
}

void show_case(ShownPrograms& shown, const std::string& file, std::optional<Build> build) {
  CaseRecord record = read_case(file, Registry::global());
  if (build) record.a_case.settings.build = *build;
  shown.build = name_of(record.a_case.settings.build);
  LaunchedPrograms launched;
  WatchedEngine engine(virtual_gpu(), launched, false);
  const Verdict verdict = TrialRunner(engine).run(record.a_case);
  if (launched.programs.empty()) {
    throw UsageError(verdict.refusals.empty()
                         ? fmt::format("{} launches no kernel", file)
                         : fmt::format("{} cannot be run: {}", file, verdict.refusals.front()));
  }
  for (const vgpu::Program* const program : launched.programs) {
    shown.kernels.push_back({program->kernel, program, {}});
  }
}

void require_shown(const ShownPrograms& shown, const std::string& file, const std::string& kernel) {
  vgpu::TraceOptions wanted;
  wanted.kernel = kernel;
  std::vector<std::string> names;
  for (const ShownKernel& one : shown.kernels) {
    if (vgpu::shows_kernel(wanted, one.name)) return;
    names.push_back(vgpu::kernel_name(one.name));
  }
  const std::size_t count = names.size();
  names.resize(std::min(count, kNamesMax));
  throw UsageError(fmt::format(
      "{} has no kernel with '{}' in its name; it has {}{}", file, kernel, fmt::join(names, ", "),
      count > kNamesMax ? fmt::format(" and {} more", count - kNamesMax) : ""));
}

}  // namespace

ShownPrograms programs_of(const std::string& file, std::optional<Build> build,
                          const std::string& kernel) {
  ShownPrograms shown;
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    throw UsageError(file + ": a directory; expected a PTX file, a program or a case");
  }
  const cudart::MappedFile mapped(file);
  if (!mapped.is_open())
    throw UsageError(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
  const std::string_view bytes = mapped.bytes();
  const bool is_case = bytes.substr(0, bytes.find_first_not_of(" \t\r\n") + 1).ends_with('{');
  if (build && !is_case) {
    throw UsageError(
        fmt::format("--build needs a case; {} has the one build that it contains", file));
  }
  try {
    if (is_case) {
      show_case(shown, file, build);
    } else if (bytes.starts_with("\x7f"
                                 "ELF")) {
      show_program_file(shown, file, bytes, kernel);
    } else if (bytes.find(".version") != std::string_view::npos) {
      add_shown_module(shown, ptx::parse(bytes, file), kernel);
    } else {
      throw UsageError(fmt::format(
          "{}: neither PTX (`nvcc -ptx`), nor an ELF program, nor a case of warpcheck", file));
    }
  } catch (const ptx::ParseError& error) {
    throw UsageError(error.what());
  } catch (const ptx::LinkError& error) {
    throw UsageError(error.what());
  }
  if (shown.kernels.empty()) throw UsageError(file + " contains no kernels (.entry)");
  require_shown(shown, file, kernel);
  return shown;
}

}  // namespace warpcheck
