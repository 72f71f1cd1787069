// cuGetExportTable(): its tables contain undocumented functions, so none are provided.  The
// toolkit's CUDA runtime requests them before anything else; such a request shows that a runtime
// was not redirected to the virtual GPU, and in which library it is.
#include <cuda.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "vgpu/cudart/driver/driver_call.hpp"
#include "vgpu/cudart/redirect/static_runtime.hpp"
#include "vgpu/cudart/redirect/unsupported_libraries.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

// Returns the directory of the virtual GPU's libraries.
std::string own_directory() {
  Dl_info self{};
  const bool is_known = ::dladdr(reinterpret_cast<void*>(own_directory), &self) != 0;
  const std::string path = is_known && self.dli_fname != nullptr ? self.dli_fname : "";
  return path.substr(0, path.rfind('/'));
}

std::string why_caller_is_refused(const std::string& path) {
  const MappedFile file(path);
  const std::string why = why_not_led(find_static_runtime(ElfFile(file.bytes())), own_directory());
  if (!why.empty()) return fmt::format("{}: {}", path, why);
  return "cuGetExportTable is not supported by the virtual device: its tables are not documented; "
         "a "
         "CUDA runtime of the toolkit asks for one where it was not led to the virtual GPU";
}

cudaError_t refuse(const std::string& why) {
  return answer_even_after_a_fault(
      [&](Device&) -> cudaError_t { throw warpcheck::vgpu::Refusal(why); });
}

}  // namespace

extern "C" CUresult cuGetExportTable(const void** table, const CUuuid*) {
  if (table != nullptr) *table = nullptr;
  Dl_info caller{};
  const bool is_known = ::dladdr(current_call().return_address, &caller) != 0;
  const std::string path = is_known && caller.dli_fname != nullptr ? caller.dli_fname : "";
  const std::string file = path.substr(path.rfind('/') + 1);
  if (const std::string why = why_unsupported(file); !why.empty()) return result_of(refuse(why));
  // The toolkit's compilers request a table if they find a driver, and work without it.
  if (file.starts_with("libnv")) return CUDA_ERROR_NOT_FOUND;
  return result_of(refuse(why_caller_is_refused(path)));
}
