#include "vgpu/cudart/redirect/elf_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace warpcheck::cudart {

MappedFile::MappedFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* const data =
        bytes == 0 ? nullptr : ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    is_open_ = data != MAP_FAILED;
    if (is_open_ && bytes != 0) bytes_ = {static_cast<const char*>(data), bytes};
  }
  ::close(file);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

ElfFile::ElfFile(std::string_view bytes) : bytes_(bytes) {
  header_ = read<Elf64_Ehdr>(0).value_or(Elf64_Ehdr{});
  for (unsigned i = 0; i < header_.e_shnum; ++i) {
    const auto section = read<Elf64_Shdr>(header_.e_shoff + i * std::uint64_t{header_.e_shentsize});
    if (!section) break;
    sections_.push_back(*section);
  }
}

bool ElfFile::is_x86_64() const {
  return bytes_.starts_with(ELFMAG) && header_.e_ident[EI_CLASS] == ELFCLASS64 &&
         header_.e_machine == EM_X86_64;
}

std::string ElfFile::foreign_kind() const {
  if (!std::string_view(reinterpret_cast<const char*>(header_.e_ident), SELFMAG)
           .starts_with(ELFMAG))
    return {};
  if (header_.e_ident[EI_CLASS] == ELFCLASS32) return "32-bit ELF program";
  if (header_.e_machine == EM_X86_64) return {};
  if (header_.e_machine == EM_AARCH64) return "ELF program for AArch64";
  return "ELF program for processor number " + std::to_string(header_.e_machine);
}

bool ElfFile::has_section(std::string_view name) const {
  if (header_.e_shstrndx >= sections_.size()) return false;
  const Elf64_Shdr& names = sections_[header_.e_shstrndx];
  for (const Elf64_Shdr& section : sections_) {
    if (text_at(names.sh_offset + section.sh_name) == name) return true;
  }
  return false;
}

std::string_view ElfFile::section(std::string_view name) const {
  if (header_.e_shstrndx >= sections_.size()) return {};
  const Elf64_Shdr& names = sections_[header_.e_shstrndx];
  for (const Elf64_Shdr& section : sections_) {
    if (text_at(names.sh_offset + section.sh_name) != name) continue;
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size()) return {};
    return bytes_.substr(section.sh_offset, section.sh_size);
  }
  return {};
}

std::vector<std::string> ElfFile::dynamic(std::int64_t tag) const {
  std::vector<std::string> texts;
  for_each<Elf64_Dyn>(SHT_DYNAMIC, [&](const Elf64_Dyn& entry, const Elf64_Shdr& strings) {
    if (entry.d_tag == tag) texts.emplace_back(text_at(strings.sh_offset + entry.d_un.d_val));
  });
  return texts;
}

bool ElfFile::has_symbol(std::uint32_t table, std::string_view name, bool defined) const {
  bool found = false;
  for_each<Elf64_Sym>(table, [&](const Elf64_Sym& symbol, const Elf64_Shdr& strings) {
    if (found || (symbol.st_shndx != SHN_UNDEF) != defined) return;
    // Not text_at(), which looks for the end of each of thousands of names.
    const std::uint64_t at = strings.sh_offset + symbol.st_name;
    found = at < bytes_.size() && bytes_.substr(at).starts_with(name) && text_at(at) == name;
  });
  return found;
}

std::vector<Elf64_Phdr> ElfFile::segments(std::uint32_t type) const {
  std::vector<Elf64_Phdr> found;
  for (unsigned i = 0; i < header_.e_phnum; ++i) {
    const auto segment = read<Elf64_Phdr>(header_.e_phoff + i * std::uint64_t{header_.e_phentsize});
    if (segment && segment->p_type == type) found.push_back(*segment);
  }
  return found;
}

std::string_view ElfFile::bytes_at(std::uint64_t address, std::size_t count) const {
  for (const Elf64_Phdr& segment : segments(PT_LOAD)) {
    if (address < segment.p_vaddr || address - segment.p_vaddr > segment.p_filesz) continue;
    const std::uint64_t within = address - segment.p_vaddr;
    if (segment.p_filesz - within < count || segment.p_offset > bytes_.size()) continue;
    if (bytes_.size() - segment.p_offset < within + count) continue;
    return bytes_.substr(segment.p_offset + within, count);
  }
  return {};
}

bool ElfFile::has_note(std::string_view owner) const {
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

std::string_view ElfFile::text_at(std::uint64_t at) const {
  if (at >= bytes_.size()) return {};
  const std::string_view rest = bytes_.substr(at);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace warpcheck::cudart
