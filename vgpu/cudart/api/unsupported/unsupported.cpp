// Refuses an API function by name; separate from unsupported_api.cpp, which must not include the
// API's header.
#include "vgpu/cudart/api/api.hpp"

namespace warpcheck::cudart {

int not_supported_by_name(std::string_view call);

int not_supported_by_name(std::string_view call) { return static_cast<int>(not_supported(call)); }

}  // namespace warpcheck::cudart
