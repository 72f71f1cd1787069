#include "vgpu/cudart/exec/refusal_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

namespace warpcheck::cudart {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

bool append_refusal(const char* settings, std::string_view reason) {
  if (settings == nullptr) return false;
  const Json known = Json::parse(settings, nullptr, false);
  const auto records = known.is_object() ? known.find("records") : known.end();
  if (records == known.end() || !records->is_string()) return false;
  const Json record = {{"record", "refusal"}, {"reason", reason}, {"process", ::getpid()}};
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const int file =
      ::open(records->get_ref<const std::string&>().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_written =
      ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::close(file);
  return is_written;
}

}  // namespace warpcheck::cudart
