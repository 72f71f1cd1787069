#include "vgpu/cudart/api/calls/unread_result.hpp"

#include <algorithm>
#include <array>

namespace warpcheck::cudart {
namespace {

// Beginnings of names without "cuda" or "cu".
constexpr std::array kWork = std::to_array<std::string_view>(
    {"DeviceSynchronize", "CtxSynchronize", "EventRecord", "EventSynchronize", "GraphLaunch",
     "HostAlloc", "Launch", "Malloc", "MemAlloc", "Memcpy", "Memset", "StreamSynchronize",
     "StreamWaitEvent"});

ResultDecoder the_decoder = nullptr;

}  // namespace

bool does_work(std::string_view call) {
  if (call == "cudaSetDevice") return true;
  call.remove_prefix(call.starts_with("cuda") ? 4 : std::min<std::size_t>(call.size(), 2));
  return std::ranges::any_of(kWork, [&](std::string_view name) { return call.starts_with(name); });
}

bool result_is_unread(const std::vector<const void*>& return_addresses) {
  return the_decoder != nullptr && the_decoder(return_addresses);
}

void set_result_decoder(ResultDecoder decoder) { the_decoder = decoder; }

}  // namespace warpcheck::cudart
