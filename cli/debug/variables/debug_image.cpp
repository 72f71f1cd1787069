#include "cli/debug/variables/debug_image.hpp"

#include <fmt/format.h>
#include <libelf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "vgpu/ptx/parse/lexer.hpp"

namespace warpcheck::debug {
namespace {

using ptx::Lexer;
using ptx::Token;

// Each symbol of data has this many addresses, above those of code.
constexpr std::uint64_t kSymbolBase = std::uint64_t{1} << 48;
constexpr unsigned kSymbolShift = 32;

struct Section {
  // A number that is known when all labels are.
  struct Fixup {
    std::size_t offset = 0;
    unsigned bytes = 8;
    std::uint32_t line = 0;
    std::string_view symbol, subtracted;
    std::int64_t addend = 0;
  };
  std::string name;
  std::vector<std::byte> bytes;
  std::vector<Fixup> fixups;
};

class Assembler {
 public:
  Assembler(std::string_view text, std::string_view name) : name_(name), lexer_(text, name) {}

  DebugImage assemble();

 private:
  [[noreturn]] void fail(std::uint32_t line, const Section& section,
                         std::string_view message) const {
    throw DebugInfoError(fmt::format("{}:{}: {}: {}", name_, line, section.name, message));
  }
  void read_text();
  void read_file();
  void read_section();
  void read_number(Lexer& lexer, Section& section, unsigned bytes, std::uint32_t first_line);
  std::uint64_t address_of(std::string_view symbol);
  void append(Section& section, std::uint64_t number, unsigned bytes) const;

  std::string_view name_;
  Lexer lexer_;
  std::vector<Section> sections_;
  std::map<std::string_view, std::uint64_t> labels_;  // of code, and of sections
  std::map<std::string_view, std::size_t> symbols_;
  DebugImage image_;
};

// Reads the labels of the code, the names of files, and the sections.
void Assembler::read_text() {
  while (lexer_.peek().kind != Token::Kind::end) {
    if (lexer_.accept_directive(".section")) {
      read_section();
    } else if (lexer_.accept_directive(".file")) {
      read_file();
    } else if (lexer_.peek().kind == Token::Kind::identifier && lexer_.at_label()) {
      labels_.emplace(lexer_.peek().text, lexer_.peek().line);
      lexer_.take();
    } else {
      lexer_.take();
    }
  }
}

// .file 1 "name"
void Assembler::read_file() {
  constexpr std::uint64_t kFilesMax = 1 << 16;
  const Token number = lexer_.take();
  if (number.kind != Token::Kind::integer || number.bits > kFilesMax) return;
  if (lexer_.peek().kind != Token::Kind::string) return;
  const std::string_view quoted = lexer_.take().text;
  if (image_.files.size() <= number.bits) image_.files.resize(number.bits + 1);
  image_.files[number.bits] = quoted.substr(1, quoted.size() - 2);
}

// .section .debug_info { .b8 1, 2  .b32 .debug_abbrev  $L__label: .b64 $L__tmp1 }
void Assembler::read_section() {
  Section section;
  section.name = lexer_.take().text;
  const std::uint32_t first_line = lexer_.peek().line;
  if (!lexer_.peek().is('{')) fail(first_line, section, "expected '{' after the name of a section");
  std::string_view body = lexer_.skip_braces();
  body = body.substr(1, body.size() - 2);  // without the braces
  const std::string place = fmt::format("{}: {} from line {}", name_, section.name, first_line);
  Lexer lexer(body, place);
  const auto line_of = [&](const Token& token) { return first_line + token.line - 1; };
  while (lexer.peek().kind != Token::Kind::end) {
    const Token token = lexer.peek();
    if (token.kind == Token::Kind::identifier && lexer.at_label()) {
      labels_.emplace(token.text, section.bytes.size());
      lexer.take();
      lexer.expect(':');
      continue;
    }
    static constexpr std::pair<std::string_view, unsigned> kWidths[] = {
        {".b8", 1}, {".b16", 2}, {".b32", 4}, {".b64", 8}};
    const auto* const width =
        std::ranges::find_if(kWidths, [&](const auto& each) { return each.first == token.text; });
    if (width == std::end(kWidths)) {
      fail(line_of(token), section,
           fmt::format("expected .b8, .b16, .b32, .b64 or a label, found '{}'",
                       ptx::printable(token.text)));
    }
    lexer.take();
    do {
      read_number(lexer, section, width->second, first_line);
    } while (lexer.accept(','));
  }
  const bool is_known = std::ranges::any_of(
      sections_, [&](const Section& each) { return each.name == section.name; });
  if (is_known) fail(first_line, section, "the text has this section twice");
  sections_.push_back(std::move(section));
}

// 12, -1, $L__tmp4, .debug_str+12, $L__end-$L__begin
void Assembler::read_number(Lexer& lexer, Section& section, unsigned bytes,
                            std::uint32_t first_line) {
  Section::Fixup fixup;
  fixup.bytes = bytes;
  fixup.offset = section.bytes.size();
  bool negative = lexer.accept('-');
  do {
    const Token token = lexer.take();
    fixup.line = first_line + token.line - 1;
    const bool is_symbol =
        token.kind == Token::Kind::identifier || token.kind == Token::Kind::directive;
    std::string_view& place = negative ? fixup.subtracted : fixup.symbol;
    if (token.kind == Token::Kind::integer) {
      const auto number = static_cast<std::int64_t>(token.bits);
      fixup.addend += negative ? -number : number;
    } else if (is_symbol && place.empty()) {
      place = token.text;
    } else {
      fail(fixup.line, section,
           fmt::format("expected a number or a label, found '{}'", ptx::printable(token.text)));
    }
    negative = lexer.peek().is('-');
  } while (lexer.accept('-') || lexer.accept('+'));
  append(section, static_cast<std::uint64_t>(fixup.addend), bytes);
  if (!fixup.symbol.empty() || !fixup.subtracted.empty()) section.fixups.push_back(fixup);
}

void Assembler::append(Section& section, std::uint64_t number, unsigned bytes) const {
  for (unsigned i = 0; i < bytes; ++i) {
    section.bytes.push_back(static_cast<std::byte>(number >> (8 * i)));
  }
}

std::uint64_t Assembler::address_of(std::string_view symbol) {
  if (symbol.empty()) return 0;
  if (const auto label = labels_.find(symbol); label != labels_.end()) return label->second;
  if (symbol.starts_with(".debug_")) return 0;
  const auto [at, is_new] = symbols_.try_emplace(symbol, symbols_.size());
  if (is_new) image_.symbols.emplace_back(symbol);
  return kSymbolBase + (std::uint64_t{at->second} << kSymbolShift);
}

[[noreturn]] void fail_of_libelf(std::string_view name) {
  throw DebugInfoError(fmt::format("{}: an ELF image of the debug sections could not be made: {}",
                                   name, elf_errmsg(-1)));
}

// A file in memory, which is closed.
struct File {
  explicit File(int file) : number(file) {}
  ~File() {
    if (number >= 0) close(number);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number;
};

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

void add_section(Elf* elf, std::size_t name_offset, std::vector<std::byte>& bytes,
                 std::uint32_t type, std::string_view text_name) {
  Elf_Scn* const section = elf_newscn(elf);
  if (section == nullptr) fail_of_libelf(text_name);
  Elf_Data* const data = elf_newdata(section);
  Elf64_Shdr* const header = elf64_getshdr(section);
  if (data == nullptr || header == nullptr) fail_of_libelf(text_name);
  data->d_buf = bytes.data();
  data->d_size = bytes.size();
  data->d_align = 1;
  data->d_type = ELF_T_BYTE;
  data->d_version = EV_CURRENT;
  header->sh_name = static_cast<std::uint32_t>(name_offset);
  header->sh_type = type;
}

std::vector<std::byte> elf_of(std::vector<Section>& sections, std::string_view name) {
  elf_version(EV_CURRENT);
  const File file(memfd_create("debug sections", MFD_CLOEXEC));
  if (file.number < 0) fail_of_libelf(name);
  {
    const std::unique_ptr<Elf, EndElf> elf(elf_begin(file.number, ELF_C_WRITE, nullptr));
    Elf64_Ehdr* const header = elf ? elf64_newehdr(elf.get()) : nullptr;
    if (header == nullptr) fail_of_libelf(name);
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_type = ET_REL;
    header->e_machine = EM_CUDA;
    header->e_version = EV_CURRENT;
    std::vector<std::byte> names(1);
    const auto add_name = [&](std::string_view text) {
      const std::size_t offset = names.size();
      for (const char c : text) names.push_back(static_cast<std::byte>(c));
      names.push_back({});
      return offset;
    };
    for (Section& section : sections) {
      add_section(elf.get(), add_name(section.name), section.bytes, SHT_PROGBITS, name);
    }
    const std::size_t own_name = add_name(".shstrtab");
    add_section(elf.get(), own_name, names, SHT_STRTAB, name);
    header->e_shstrndx = static_cast<std::uint16_t>(sections.size() + 1);
    if (elf_update(elf.get(), ELF_C_WRITE) < 0) fail_of_libelf(name);
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(lseek(file.number, 0, SEEK_END)));
  if (pread(file.number, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    fail_of_libelf(name);
  }
  return bytes;
}

DebugImage Assembler::assemble() {
  try {
    read_text();
  } catch (const ptx::ParseError& error) {
    throw DebugInfoError(error.what());
  }
  for (Section& section : sections_) {
    for (const Section::Fixup& fixup : section.fixups) {
      const std::uint64_t number = address_of(fixup.symbol) - address_of(fixup.subtracted) +
                                   static_cast<std::uint64_t>(fixup.addend);
      if (fixup.bytes < 8 && number >> (8 * fixup.bytes) != 0) {
        fail(fixup.line, section,
             fmt::format("'{}' does not fit {} bytes", fixup.symbol, fixup.bytes));
      }
      for (unsigned i = 0; i < fixup.bytes; ++i) {
        section.bytes[fixup.offset + i] = static_cast<std::byte>(number >> (8 * i));
      }
    }
  }
  const bool has_info = std::ranges::any_of(
      sections_, [](const Section& section) { return section.name == ".debug_info"; });
  if (has_info) image_.elf = elf_of(sections_, name_);
  return std::move(image_);
}

}  // namespace

std::optional<DebugImage::SymbolPlace> DebugImage::symbol_at(std::uint64_t address) const {
  if (address < kSymbolBase) return std::nullopt;
  const std::uint64_t number = (address - kSymbolBase) >> kSymbolShift;
  if (number >= symbols.size()) return std::nullopt;
  const std::uint64_t offset = address & ((std::uint64_t{1} << kSymbolShift) - 1);
  return SymbolPlace{symbols[number], offset};
}

DebugImage assemble_debug_sections(std::string_view text, std::string_view name) {
  return Assembler(text, name).assemble();
}

}  // namespace warpcheck::debug
