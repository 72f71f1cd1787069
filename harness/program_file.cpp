#include "harness/program_file.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace warpcheck {
namespace {

// ELF-64 as the System V ABI describes it; whatever the file says is checked before it is followed.
class ElfFile {
 public:
  explicit ElfFile(std::string_view bytes) : bytes_(bytes) {
    header_ = read<Elf64_Ehdr>(0).value_or(Elf64_Ehdr{});
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      const auto section =
          read<Elf64_Shdr>(header_.e_shoff + i * std::uint64_t{header_.e_shentsize});
      if (!section) break;
      sections_.push_back(*section);
    }
  }

  [[nodiscard]] bool is_x86_64() const {
    return bytes_.starts_with(ELFMAG) && header_.e_ident[EI_CLASS] == ELFCLASS64 &&
           header_.e_machine == EM_X86_64;
  }

  [[nodiscard]] bool has_section(std::string_view name) const {
    if (header_.e_shstrndx >= sections_.size()) return false;
    const Elf64_Shdr& names = sections_[header_.e_shstrndx];
    for (const Elf64_Shdr& section : sections_) {
      if (text_at(names.sh_offset + section.sh_name) == name) return true;
    }
    return false;
  }

  // The first library that the program needs whose name begins so; empty: none.
  [[nodiscard]] std::string needed(std::string_view prefix) const {
    std::string found;
    for_each<Elf64_Dyn>(SHT_DYNAMIC, [&](const Elf64_Dyn& entry, const Elf64_Shdr& strings) {
      if (entry.d_tag != DT_NEEDED || !found.empty()) return;
      const std::string_view name = text_at(strings.sh_offset + entry.d_un.d_val);
      if (name.starts_with(prefix)) found = name;
    });
    return found;
  }

  // Whether the table (SHT_DYNSYM, SHT_SYMTAB) has this symbol, defined here or elsewhere.
  [[nodiscard]] bool has_symbol(std::uint32_t table, std::string_view name, bool defined) const {
    bool found = false;
    for_each<Elf64_Sym>(table, [&](const Elf64_Sym& symbol, const Elf64_Shdr& strings) {
      found = found || ((symbol.st_shndx != SHN_UNDEF) == defined &&
                        text_at(strings.sh_offset + symbol.st_name) == name);
    });
    return found;
  }

  // Whether there is a note of this owner (and no description).
  [[nodiscard]] bool has_note(std::string_view owner) const {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_NOTE) continue;
      for (std::uint64_t at = section.sh_offset; at < section.sh_offset + section.sh_size;) {
        const auto note = read<Elf64_Nhdr>(at);
        if (!note) break;
        if (note->n_namesz == owner.size() + 1 && text_at(at + sizeof *note) == owner) return true;
        const auto padded = [](std::uint64_t bytes) { return (bytes + 3) / 4 * 4; };
        at += sizeof *note + padded(note->n_namesz) + padded(note->n_descsz);
      }
    }
    return false;
  }

 private:
  template <class T>
  [[nodiscard]] std::optional<T> read(std::uint64_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

  [[nodiscard]] std::string_view text_at(std::uint64_t at) const {
    if (at >= bytes_.size()) return {};
    const std::string_view rest = bytes_.substr(at);
    return rest.substr(0, rest.find('\0'));
  }

  // Every entry of the sections of this type, with the section of its strings.
  template <class Entry, class Visit>
  void for_each(std::uint32_t type, Visit&& visit) const {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != type || section.sh_link >= sections_.size()) continue;
      for (std::uint64_t i = 0; i < section.sh_size / sizeof(Entry); ++i) {
        const auto entry = read<Entry>(section.sh_offset + i * sizeof(Entry));
        if (!entry) break;
        visit(*entry, sections_[section.sh_link]);
      }
    }
  }

  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
};

ProgramFile::Runtime runtime_in(const ElfFile& elf) {
  using Runtime = ProgramFile::Runtime;
  if (elf.has_note("warpcheck")) return Runtime::ours;
  if (!elf.needed("libcudart.so").empty()) return Runtime::shared;
  constexpr std::string_view kRegister = "__cudaRegisterFatBinary";
  // Stripping leaves the section with the device code; a program without kernels has only symbols.
  const bool has_device_code = elf.has_section(".nv_fatbin") || elf.has_section(".nvFatBinSegment");
  const bool elsewhere = elf.has_symbol(SHT_DYNSYM, kRegister, false);
  const bool inside = elf.has_symbol(SHT_SYMTAB, kRegister, true);
  return inside || (has_device_code && !elsewhere) ? Runtime::toolkit : Runtime::unknown;
}

std::string search_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const std::size_t colon = rest.find(':');
    const std::filesystem::path directory(rest.substr(0, colon));
    const std::string candidate = (directory.empty() ? "." : directory) / name;
    struct stat status {};
    const bool is_file = ::stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (is_file && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  const bool is_here = ::access(name.c_str(), F_OK) == 0;
  throw ProgramError(fmt::format("{}: no such program in $PATH{}", name,
                                 is_here ? fmt::format("; is it ./{}?", name) : ""));
}

void require_executable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw ProgramError(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) throw ProgramError(path + ": a directory, not a program");
  if (::access(path.c_str(), X_OK) != 0) {
    throw ProgramError(fmt::format("{0}: cannot be executed (chmod +x {0}?)", path));
  }
}

}  // namespace

ProgramFile find_program(const std::string& name) {
  ProgramFile program;
  program.path = name.find('/') != std::string::npos ? name : search_path(name);
  require_executable(program.path);
  std::ifstream file(program.path, std::ios::binary);
  if (!file) throw ProgramError(fmt::format("{}: {}", program.path, std::strerror(errno)));
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.starts_with("#!")) return program;
  const ElfFile elf(bytes);
  if (!elf.is_x86_64()) {
    throw ProgramError(program.path +
                       ": neither an ELF program for x86-64 nor a script that begins with #!");
  }
  program.runtime = runtime_in(elf);
  program.needed_library = elf.needed("libcudart.so");
  return program;
}

std::string drop_in_directory() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string looked;
  for (const auto& libraries :
       {self.parent_path() / "lib", self.parent_path().parent_path() / WARPCHECK_LIBDIR}) {
    const auto directory = libraries / "warpcheck";
    if (std::filesystem::exists(directory / "libcudart_static.a", error)) return directory;
    looked += fmt::format("{}{}", looked.empty() ? "" : " or ", directory.string());
  }
  throw ProgramError(
      fmt::format("there is no libcudart_static.a in {}; build the target warpcheck_drop_in, or "
                  "install warpcheck",
                  looked));
}

}  // namespace warpcheck
