// Reads ELF files for `exec`: the libraries that they need, symbols, sections, segments, notes.
// ELF-64 as the System V ABI describes it; every field of a file is checked before it is used.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::cudart {

// The bytes of a file, memory-mapped, because libraries can be large and only a small part is read.
class MappedFile {
 public:
  // is_open() is false if the file cannot be read; errno then has the reason.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  bool is_open_ = false;
  std::string_view bytes_;
};

class ElfFile {
 public:
  // bytes: must outlive this object.
  explicit ElfFile(std::string_view bytes);

  [[nodiscard]] bool is_x86_64() const;
  // Returns "32-bit ELF program", "ELF program for AArch64" ...; empty: it is for x86-64, or no ELF
  // file.
  [[nodiscard]] std::string foreign_kind() const;
  [[nodiscard]] bool has_section(std::string_view name) const;
  // Returns the section's bytes; empty: there is no such section, or the file has none of them.
  [[nodiscard]] std::string_view section(std::string_view name) const;
  // Returns the strings of the dynamic section's entries with this tag (DT_NEEDED, DT_RUNPATH ...).
  [[nodiscard]] std::vector<std::string> dynamic(std::int64_t tag) const;
  // Returns whether the table (SHT_DYNSYM, SHT_SYMTAB) has this symbol, defined or undefined.
  [[nodiscard]] bool has_symbol(std::uint32_t table, std::string_view name, bool defined) const;
  // Calls visit(name, symbol) for every symbol of the table.
  template <class Visit>
  void for_each_symbol(std::uint32_t table, Visit&& visit) const {
    for_each<Elf64_Sym>(table, [&](const Elf64_Sym& symbol, const Elf64_Shdr& strings) {
      visit(text_at(strings.sh_offset + symbol.st_name), symbol);
    });
  }
  // Returns the program headers of this type (PT_LOAD, PT_INTERP ...).
  [[nodiscard]] std::vector<Elf64_Phdr> segments(std::uint32_t type) const;
  // Returns the file's content for `count` bytes at a virtual address; empty: the file has no such
  // bytes.
  [[nodiscard]] std::string_view bytes_at(std::uint64_t address, std::size_t count) const;
  // Returns whether there is a note of this owner.
  [[nodiscard]] bool has_note(std::string_view owner) const;

 private:
  template <class T>
  [[nodiscard]] std::optional<T> read(std::uint64_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

  [[nodiscard]] std::string_view text_at(std::uint64_t at) const;

  // Visits every entry of the sections of this type, with the section of its strings.
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

}  // namespace warpcheck::cudart
