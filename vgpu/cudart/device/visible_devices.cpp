#include "vgpu/cudart/device/visible_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::cudart {
namespace {

constexpr const char* kVariable = "CUDA_VISIBLE_DEVICES";
constexpr std::string_view kUuidPrefix = "GPU-";

unsigned devices_of_system() {
  const ExecSession* const session = ExecSession::instance();
  return session == nullptr ? 1 : session->devices();
}

char in_lower_case(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

// Returns the device that an entry of the list names; nothing: the entry is invalid.
std::optional<unsigned> device_of_number(const std::string& entry, unsigned count) {
  char* end = nullptr;
  const auto number = static_cast<int>(std::strtol(entry.c_str(), &end, 10));
  if (end == entry.c_str() || number < 0) return std::nullopt;
  const auto device = static_cast<unsigned>(number);
  return device < count ? std::optional(device) : std::nullopt;
}

std::optional<unsigned> device_of_uuid(std::string_view entry, unsigned count) {
  if (!entry.starts_with(kUuidPrefix)) return std::nullopt;
  std::optional<unsigned> found;
  for (unsigned device = 0; device < count; ++device) {
    const std::string uuid = uuid_text(device);
    const std::string_view given = entry.substr(0, uuid.size());
    const bool is_named = std::ranges::equal(given, std::string_view(uuid).substr(0, given.size()),
                                             {}, in_lower_case, in_lower_case);
    if (!is_named) continue;
    if (found) return std::nullopt;  // two devices begin like that
    found = device;
  }
  return found;
}

}  // namespace

std::string uuid_text(unsigned number) {
  return fmt::format("{}00000000-0000-0000-0000-{:012x}", kUuidPrefix, number);
}

VisibleDevices visible_devices(const char* list, unsigned count) {
  VisibleDevices visible;
  if (list == nullptr) {
    visible.numbers.resize(count);
    std::iota(visible.numbers.begin(), visible.numbers.end(), 0u);
    return visible;
  }
  std::string_view rest = list;
  const bool are_uuids = rest.starts_with(kUuidPrefix);
  for (bool is_more = true; is_more;) {
    const std::size_t comma = rest.find(',');
    const std::string entry(rest.substr(0, comma));
    is_more = comma != std::string_view::npos;
    if (is_more) rest.remove_prefix(comma + 1);
    const auto device = are_uuids ? device_of_uuid(entry, count) : device_of_number(entry, count);
    if (!device) break;
    if (std::ranges::find(visible.numbers, *device) != visible.numbers.end()) {
      return {{}, cudaErrorInvalidDevice};
    }
    visible.numbers.push_back(*device);
  }
  if (visible.numbers.empty()) visible.error = cudaErrorNoDevice;
  return visible;
}

VisibleDevices devices_of_process() {
  return visible_devices(std::getenv(kVariable), devices_of_system());
}

std::string text_of_no_device() {
  const unsigned count = devices_of_system();
  return fmt::format("what needs a device: the program sees none, as {} is '{}' and there {} {}",
                     kVariable, std::getenv(kVariable), count == 1 ? "is" : "are",
                     counted(count, "device"));
}

}  // namespace warpcheck::cudart
