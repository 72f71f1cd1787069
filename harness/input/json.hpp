// Values as JSON documents, for code that works with the documents themselves.
//
// nlohmann/json.hpp takes longer to compile than all of a pair, so the headers of pair.hpp never
// include this one (ci/check_includes.py).
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/input/fields.hpp"

namespace warpcheck {

template <class T>
[[nodiscard]] Json to_json(const T& value) {
  Json json;
  FieldTraits<T>::write(json, value);
  return json;
}

// Throws FieldError if the document does not fit T; `root` is the beginning of the path in
// messages.
template <class T>
[[nodiscard]] T from_json(const Json& json, std::string_view root = "input") {
  return FieldTraits<T>::read(json, FieldPath(root));
}

}  // namespace warpcheck
