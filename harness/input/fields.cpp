#include "harness/input/fields.hpp"

#include <nlohmann/json.hpp>

namespace warpcheck {

void FieldTraits<Dim3>::write(Json& json, const Dim3& value) {
  json = Json::array({value.x, value.y, value.z});
}

Dim3 FieldTraits<Dim3>::read(const Json& json, const FieldPath& path) {
  if (json.is_number()) return FieldTraits<std::uint32_t>::read(json, path);
  if (!json.is_array() || json.empty() || json.size() > 3) {
    throw_unexpected(path, "a list of extents [x, y, z]", json);
  }
  Dim3 extents;
  std::uint32_t* const members[] = {&extents.x, &extents.y, &extents.z};
  for (std::size_t i = 0; i < json.size(); ++i) {
    *members[i] = FieldTraits<std::uint32_t>::read(json[i], FieldPath(path, i));
  }
  return extents;
}

}  // namespace warpcheck
