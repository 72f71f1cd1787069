#include "cli/debug/dap/request.hpp"

#include <fmt/format.h>

#include "cli/debug/dap/frames.hpp"

namespace warpcheck::dap {
namespace {

constexpr std::size_t kValueBytesMax = 60;
constexpr int kNestingMax = 64;  // no request needs ten, and functions on JSON call themselves

bool is_nested_too_deep(std::string_view text) {
  int depth = 0;
  bool is_in_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') is_in_text = !is_in_text;
    if (is_in_text) {
      if (c == '\\') ++at;
    } else if (c == '[' || c == '{') {
      if (++depth > kNestingMax) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kValueBytesMax) text = text.substr(0, kValueBytesMax) + "...";
  return text;
}

[[noreturn]] void unexpected(std::string_view path, std::string_view expected, const Json& found) {
  throw RequestError(fmt::format("{}: expected {}, found {}", path, expected, shown(found)));
}

std::string text_at(const Json& value, std::string_view path) {
  if (!value.is_string()) unexpected(path, "a text", value);
  return value.get<std::string>();
}

}  // namespace

Arguments::Arguments(const Json& object, std::string path)
    : object_(object.is_null() ? nullptr : &object), path_(std::move(path)) {
  if (object_ && !object.is_object()) unexpected(path_, "an object", object);
}

std::string Arguments::path_of(std::string_view name) const {
  const bool is_command = path_.find(':') == path_.npos;
  return fmt::format("{}{}{}", path_, is_command ? ": " : ".", name);
}

const Json* Arguments::find(const char* name) const {
  if (!object_) return nullptr;
  const auto found = object_->find(name);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

const Json& Arguments::require(const char* name, std::string_view expected) const {
  if (const Json* found = find(name)) return *found;
  throw RequestError(fmt::format("{}: expected {}, found none", path_of(name), expected));
}

void Arguments::refuse(const char* name, std::string_view expected) const {
  unexpected(path_of(name), expected, require(name, expected));
}

std::string Arguments::text(const char* name) const {
  return text_at(require(name, "a text"), path_of(name));
}

std::int64_t Arguments::integer(const char* name) const {
  const Json& value = require(name, "an integer");
  if (!value.is_number_integer()) unexpected(path_of(name), "an integer", value);
  return value.get<std::int64_t>();
}

Arguments Arguments::object(const char* name) const {
  return Arguments(require(name, "an object"), path_of(name));
}

std::string Arguments::text_or(const char* name, std::string_view otherwise) const {
  return has(name) ? text(name) : std::string(otherwise);
}

std::int64_t Arguments::integer_or(const char* name, std::int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}

bool Arguments::flag_or(const char* name, bool otherwise) const {
  const Json* value = find(name);
  if (!value) return otherwise;
  if (!value->is_boolean()) unexpected(path_of(name), "true or false", *value);
  return value->get<bool>();
}

std::optional<Arguments> Arguments::object_if(const char* name) const {
  if (!has(name)) return std::nullopt;
  return object(name);
}

std::vector<Arguments> Arguments::objects_if(const char* name) const {
  std::vector<Arguments> objects;
  const Json* list = find(name);
  if (!list) return objects;
  if (!list->is_array()) unexpected(path_of(name), "a list", *list);
  for (const Json& each : *list) {
    objects.emplace_back(each, fmt::format("{}[{}]", path_of(name), objects.size()));
  }
  return objects;
}

std::vector<std::string> Arguments::texts_if(const char* name) const {
  std::vector<std::string> texts;
  const Json* list = find(name);
  if (!list) return texts;
  if (!list->is_array()) unexpected(path_of(name), "a list", *list);
  for (const Json& each : *list) {
    texts.push_back(text_at(each, fmt::format("{}[{}]", path_of(name), texts.size())));
  }
  return texts;
}

Json Arguments::list(const char* name) const {
  const Json* list = find(name);
  return list ? *list : Json::array();
}

std::vector<std::pair<std::string, std::optional<std::string>>> Arguments::members() const {
  std::vector<std::pair<std::string, std::optional<std::string>>> members;
  if (!object_) return members;
  for (const auto& [name, value] : object_->items()) {
    members.emplace_back(
        name, value.is_null() ? std::nullopt : std::optional(text_at(value, path_of(name))));
  }
  return members;
}

Arguments Request::arguments() const {
  static const Json kNone;
  const auto found = document.find("arguments");
  return Arguments(found == document.end() ? kNone : *found, command);
}

std::optional<Request> parse_request(std::string_view text) {
  const auto damaged = [](std::string_view expected, std::string_view found) {
    throw DamagedMessage(fmt::format("a message: expected {}, found {}", expected, found));
  };
  if (is_nested_too_deep(text)) {
    damaged(fmt::format("at most {} values in one another", kNestingMax), "more");
  }
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) {
    damaged("JSON", fmt::format("\"{}\"", text.substr(0, kValueBytesMax)));
  }
  if (!document.is_object()) damaged("an object", shown(document));
  const Json type = document.value("type", Json());
  if (type == "response") return std::nullopt;
  if (type != "request") damaged("the type \"request\"", shown(type));
  const Json seq = document.value("seq", Json()), command = document.value("command", Json());
  if (!seq.is_number_integer()) damaged("an integer as seq", shown(seq));
  if (!command.is_string()) damaged("a command", shown(command));
  return Request{seq.get<std::int64_t>(), command.get<std::string>(), std::move(document)};
}

}  // namespace warpcheck::dap
