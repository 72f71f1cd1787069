// Finds the functions of the toolkit's static runtime in a file, and the parts of them that may be
// overwritten.
#include "vgpu/cudart/redirect/static_runtime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpcheck::cudart {
namespace {

struct ElfSymbol {
  const char* name;
  std::uint64_t address;
  std::uint64_t bytes;
  unsigned char type = STT_FUNC;
  unsigned char binding = STB_LOCAL;
};

// A file with sections only: a table of this type with these symbols, and an empty section.
class FileOfSymbols {
 public:
  explicit FileOfSymbols(const std::vector<ElfSymbol>& symbols, std::uint32_t table = SHT_SYMTAB,
                         const char* section = "") {
    std::string strings(1, '\0');
    const auto name = [&](const char* text) {
      strings.append(text).push_back('\0');
      return static_cast<std::uint32_t>(strings.size() - std::string_view(text).size() - 1);
    };
    std::string entries;
    for (const ElfSymbol& symbol : symbols) {
      const auto info = static_cast<unsigned char>(ELF64_ST_INFO(symbol.binding, symbol.type));
      append(entries, Elf64_Sym{name(symbol.name), info, 0, 1, symbol.address, symbol.bytes});
    }
    const std::uint32_t section_name = name(section);
    Elf64_Ehdr header{};
    std::ranges::copy(std::string_view(ELFMAG), header.e_ident);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = EM_X86_64;
    header.e_shoff = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shstrndx = 2;
    const std::uint64_t entries_at = sizeof header + 3 * sizeof(Elf64_Shdr);
    append(bytes_, header);
    append(bytes_, section_of(SHT_PROGBITS, 0, 0, section_name));
    append(bytes_, section_of(table, entries_at, entries.size()));
    append(bytes_, section_of(SHT_STRTAB, entries_at + entries.size(), strings.size()));
    bytes_ += entries + strings;
  }

  [[nodiscard]] StaticRuntime runtime() const { return find_static_runtime(ElfFile(bytes_)); }

 private:
  static Elf64_Shdr section_of(std::uint32_t type, std::uint64_t at, std::uint64_t bytes,
                               std::uint32_t name = 0) {
    Elf64_Shdr section{};
    section.sh_name = name;
    section.sh_type = type;
    section.sh_offset = at;
    section.sh_size = bytes;
    section.sh_link = 2;  // index of the string table
    return section;
  }
  template <class Part>
  static void append(std::string& to, const Part& part) {
    to.append(reinterpret_cast<const char*>(&part), sizeof part);
  }

  std::string bytes_;
};

constexpr ElfSymbol kRegister{"__cudaRegisterFatBinary", 0x1000, 0x40};

std::vector<std::pair<std::string, std::uint64_t>> rooms_in(const StaticRuntime& runtime) {
  std::vector<std::pair<std::string, std::uint64_t>> rooms;
  for (const RuntimeFunction& function : runtime.functions) {
    rooms.emplace_back(function.name, function.room_bytes);
  }
  return rooms;
}

using Rooms = std::vector<std::pair<std::string, std::uint64_t>>;

TEST(StaticRuntime, FunctionsComeInTheOrderOfTheirAddresses) {
  const StaticRuntime runtime =
      FileOfSymbols({{"cudaMalloc", 0x1080, 0x60}, kRegister, {"main", 0x800, 0x40}}).runtime();
  EXPECT_TRUE(runtime.is_inside);
  EXPECT_FALSE(runtime.is_stripped);
  EXPECT_EQ(runtime.release, 13u);
  EXPECT_EQ(rooms_in(runtime), (Rooms{{"__cudaRegisterFatBinary", 0x40}, {"cudaMalloc", 0x60}}));
  EXPECT_EQ(why_not_led(runtime, "/lib"), "");
}

TEST(StaticRuntime, FunctionsOfTheProgramThatHaveSuchNamesStay) {
  const StaticRuntime runtime = FileOfSymbols({{"__cudaUnregisterBinaryUtil", 0x800, 0x16},
                                               kRegister,
                                               {"cudaOfANewRelease", 0x1040, 0x20},
                                               {"cudatable", 0x1060, 0x20},
                                               {"cudaFree", 0x1080, 0x40},
                                               {"cudaHelperOfTheProgram", 0x2000, 0x40}})
                                    .runtime();
  EXPECT_EQ(
      rooms_in(runtime),
      (Rooms{{"__cudaRegisterFatBinary", 0x40}, {"cudaOfANewRelease", 0x20}, {"cudaFree", 0x40}}));
}

TEST(StaticRuntime, OfTwoNamesAtOneAddressTheKnownOneStays) {
  const StaticRuntime runtime = FileOfSymbols({kRegister,
                                               {"cudaAnotherName", 0x1080, 0x40},
                                               {"cudaFree", 0x1080, 0x40},
                                               {"cudaYetAnotherName", 0x1080, 0x40}})
                                    .runtime();
  EXPECT_EQ(rooms_in(runtime), (Rooms{{"__cudaRegisterFatBinary", 0x40}, {"cudaFree", 0x40}}));
}

TEST(StaticRuntime, AShortFunctionHasThePaddingBehindIt) {
  const StaticRuntime runtime =
      FileOfSymbols({kRegister, {"cudaFree", 0x1050, 3}, {"main", 0x1080, 1}}).runtime();
  EXPECT_EQ(rooms_in(runtime), (Rooms{{"__cudaRegisterFatBinary", 0x40}, {"cudaFree", 16}}));
}

TEST(StaticRuntime, WhatHasASymbolIsNoPadding) {
  for (const unsigned char type : {STT_FUNC, STT_OBJECT, STT_NOTYPE, STT_GNU_IFUNC}) {
    const StaticRuntime runtime =
        FileOfSymbols({kRegister, {"cudaFree", 0x1050, 3}, {"other", 0x1054, 1, type}}).runtime();
    EXPECT_EQ(rooms_in(runtime), (Rooms{{"__cudaRegisterFatBinary", 0x40}, {"cudaFree", 4}}));
    EXPECT_EQ(why_not_led(runtime, "/lib"),
              "there is no room for a jump in cudaFree of the toolkit's static CUDA runtime in it "
              "(4 bytes); link it again with `nvcc -L /lib` (or with `nvcc -cudart shared`)");
  }
}

TEST(StaticRuntime, ASecondEntryIntoAFunctionEndsItsRoom) {
  const StaticRuntime runtime = FileOfSymbols({kRegister, {"inner_entry", 0x1002, 0x3e}}).runtime();
  EXPECT_EQ(rooms_in(runtime), (Rooms{{"__cudaRegisterFatBinary", 2}}));
}

TEST(StaticRuntime, ReleasesAreKnownByTheFunctionsThatAreGoneSince) {
  EXPECT_EQ(FileOfSymbols({kRegister, {"cudaThreadSynchronize", 0x1080, 0x40}}).runtime().release,
            12u);
  EXPECT_EQ(
      FileOfSymbols({kRegister, {"cudaGetDeviceProperties_v2", 0x1080, 0x40}}).runtime().release,
      12u);
  const StaticRuntime old =
      FileOfSymbols(
          {kRegister, {"cudaBindTexture", 0x1080, 0x40}, {"cudaThreadSynchronize", 0x10c0, 0x40}})
          .runtime();
  EXPECT_EQ(old.release, 11u);
  EXPECT_EQ(why_not_led(old, "/lib"),
            "it has the toolkit's static CUDA runtime of release 11 or an older one inside; there "
            "are 13 and 12");
}

TEST(StaticRuntime, DeviceCodeWithoutSymbolsIsAStrippedRuntime) {
  for (const char* section : {".nv_fatbin", ".nvFatBinSegment"}) {
    const StaticRuntime runtime = FileOfSymbols({}, SHT_SYMTAB, section).runtime();
    EXPECT_TRUE(runtime.is_inside);
    EXPECT_TRUE(runtime.is_stripped);
    EXPECT_EQ(why_not_led(runtime, "/lib"),
              "it is stripped, so the functions of the toolkit's static CUDA runtime in it cannot "
              "be found; do not strip it, or link it again with `nvcc -L /lib` (or with `nvcc "
              "-cudart shared`)");
  }
  EXPECT_FALSE(FileOfSymbols({}).runtime().is_inside);
}

TEST(StaticRuntime, WithoutAnyLocalFunctionSomeOfTheRuntimeMayBeGone) {
  const ElfSymbol global{"__cudaRegisterFatBinary", 0x1000, 0x40, STT_FUNC, STB_GLOBAL};
  const StaticRuntime runtime = FileOfSymbols({global, {"data", 0x2000, 8, STT_OBJECT}}).runtime();
  EXPECT_TRUE(runtime.is_inside);
  EXPECT_TRUE(runtime.is_stripped);
  EXPECT_EQ(rooms_in(runtime), Rooms{});
  EXPECT_FALSE(FileOfSymbols({global, {"helper", 0x2000, 8}}).runtime().is_stripped);
}

TEST(StaticRuntime, ARuntimeThatIsExportedIsNoStaticOne) {
  EXPECT_FALSE(FileOfSymbols({kRegister}, SHT_DYNSYM, ".nv_fatbin").runtime().is_inside);
}

}  // namespace
}  // namespace warpcheck::cudart
