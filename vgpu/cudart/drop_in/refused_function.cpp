// What a thin library's function answers that the virtual GPU does not have: it is refused by name.
#include <string_view>

namespace warpcheck::cudart {
int not_supported_by_name(std::string_view call);  // vgpu/cudart/api/unsupported/unsupported.cpp
}

extern "C" int warpcheck_refuse(const char* name);

int warpcheck_refuse(const char* name) { return warpcheck::cudart::not_supported_by_name(name); }
