// Ensures one virtual GPU per process.  A program that contains libcudart_static.a of this
// directory has a virtual GPU already.  If libwarpcheck_gpu.so were loaded too, because another
// library of the program is a thin one, each would not know the other's memory.  So the process
// ends before that, whichever of the two comes first.
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "vgpu/cudart/exec/refusal_record.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::string_view kShared = "libwarpcheck_gpu.so";
constexpr std::string_view kNote = "warpcheck";  // exec_session.cpp writes it
constexpr int kCannotRun = 2;                    // the exit status of `warpcheck exec`

bool has_note(const dl_phdr_info& loaded) {
  for (int i = 0; i < loaded.dlpi_phnum; ++i) {
    const auto& segment = loaded.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    std::uintptr_t at = loaded.dlpi_addr + segment.p_vaddr;
    const std::uintptr_t end = at + segment.p_filesz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
      const auto* const name = reinterpret_cast<const char*>(at + sizeof note);
      if (note.n_namesz == kNote.size() + 1 && kNote == name) return true;
      const auto rounded = [](std::uintptr_t bytes) { return (bytes + 3) / 4 * 4; };
      at += sizeof note + rounded(note.n_namesz) + rounded(note.n_descsz);
    }
  }
  return false;
}

bool holds(const dl_phdr_info& loaded, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < loaded.dlpi_phnum; ++i) {
    const auto& segment = loaded.dlpi_phdr[i];
    const std::uintptr_t begin = loaded.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && begin <= at && at < begin + segment.p_memsz) return true;
  }
  return false;
}

struct Holders {
  std::string inside;  // the file that contains the static library
  bool has_shared = false, has_static = false;
};

int look_at(dl_phdr_info* loaded, std::size_t, void* to) {
  auto& holders = *static_cast<Holders*>(to);
  const bool is_this = holds(*loaded, reinterpret_cast<const void*>(&look_at));
  if (!is_this && !has_note(*loaded)) return 0;
  const std::string_view path = loaded->dlpi_name;
  if (path.substr(path.rfind('/') + 1) == kShared) {
    holders.has_shared = true;
  } else {
    holders.has_static = true;
    holders.inside = path.empty() ? "the program" : path;
  }
  return 0;
}

[[gnu::constructor]] void require_one_virtual_gpu() {
  Holders holders;
  ::dl_iterate_phdr(look_at, &holders);
  if (!holders.has_shared || !holders.has_static) return;
  const std::string reason =
      holders.inside +
      " has the virtual GPU inside (libcudart_static.a of `warpcheck libdir`), and another library "
      "of the process needs the shared one (libwarpcheck_gpu.so), so there would be two; link it "
      "with `nvcc -cudart shared`, and run it under `warpcheck exec`";
  if (!append_refusal(std::getenv("WARPCHECK_EXEC"), reason)) {
    std::fprintf(stderr, "warpcheck: %s\n", reason.c_str());
  }
  std::fflush(nullptr);
  ::_exit(kCannotRun);
}

}  // namespace
}  // namespace warpcheck::cudart
