#include "vgpu/cudart/api/calls/api_call.hpp"

thread_local constinit warpcheck::cudart::ApiCall warpcheck_api_call;

namespace warpcheck::cudart {
namespace {

// Returns "cudaMalloc" for "cudaMalloc_ptsz".
std::string_view without_suffix(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

// Returns "cuMemAlloc" for "cuMemAlloc_v2".
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  const bool is_version = at != std::string_view::npos && at + 3 == name.size() &&
                          name.back() >= '2' && name.back() <= '9';
  return is_version ? name.substr(0, at) : name;
}

}  // namespace

std::string_view without_suffixes(std::string_view function) {
  function = without_suffix(function);
  const bool is_of_driver = function.size() > 2 && function[2] >= 'A' && function[2] <= 'Z';
  return is_of_driver ? without_version(function) : function;
}

std::string_view reported_name() {
  const ApiCall& call = current_call();
  return call.name == nullptr ? "" : without_suffixes(call.name);
}

std::string_view reported_name(std::string_view runtime_function) {
  return is_driver_call(current_call()) ? reported_name() : runtime_function;
}

}  // namespace warpcheck::cudart
