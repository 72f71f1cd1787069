// Refuses, by name, a function of a thin library that the virtual GPU does not have.
#include <string_view>

namespace warpcheck::cudart {
int not_supported_by_name(std::string_view call);  // vgpu/cudart/api/unsupported/unsupported.cpp
}

extern "C" int warpcheck_refuse(const char* name);

int warpcheck_refuse(const char* name) { return warpcheck::cudart::not_supported_by_name(name); }
