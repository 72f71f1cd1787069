#include "harness/case/edits_json.hpp"

#include <string_view>

#include "harness/input/json.hpp"

namespace warpcheck {
namespace {

using ptx::EditedBuild;
using ptx::EditKind;
using ptx::ProgramEdit;

// A kind's fields: the place is that of `verb`, or of `place` if there is one; the text that of
// `verb` or of `text`.
struct EditFields {
  EditKind kind;
  const char* verb;
  const char* place;  // null: the verb has the place
  const char* text;   // null: the verb has the text, or there is none
};
constexpr EditFields kEditFields[] = {
    {EditKind::insert_before, "insert", "before", nullptr},
    {EditKind::insert_after, "insert", "after", nullptr},
    {EditKind::replace, "replace", nullptr, "by"},
    {EditKind::remove, "remove", nullptr, nullptr},
    {EditKind::respell, "respell", nullptr, "as"},
};

Json place_json(const ProgramEdit& edit) {
  Json json = Json::object();
  if (const auto* const at = std::get_if<ptx::InstructionPlace>(&edit.place)) {
    json["function"] = at->function;
    json["instruction"] = at->index;
    return json;
  }
  const auto& at = std::get<ptx::LinePlace>(edit.place);
  json["file"] = at.file;
  json["line"] = at.line;
  if (!at.mnemonic.empty()) json["mnemonic"] = at.mnemonic;
  if (!at.function.empty()) json["function"] = at.function;
  return json;
}

void read_place(const Json& json, const FieldPath& path, ProgramEdit& edit) {
  ObjectReader fields(json, path);
  if (json.is_object() && json.contains("instruction")) {
    edit.place =
        ptx::InstructionPlace{fields.text("function"), fields.number<std::uint32_t>("instruction")};
    fields.finish({"function", "instruction"});
    return;
  }
  ptx::LinePlace at{.file = fields.text("file"),
                    .line = fields.number<std::uint32_t>("line"),
                    .mnemonic = {},
                    .function = {}};
  const auto read_optional = [&](std::string_view name, std::string& text) {
    if (const Json* const value = fields.optional(name)) {
      text = read_text(*value, FieldPath(path, name));
    }
  };
  read_optional("mnemonic", at.mnemonic);
  read_optional("function", at.function);
  edit.place = std::move(at);
  fields.finish({"file", "line", "mnemonic", "function"});
}

ProgramEdit edit_from(const Json& json, const FieldPath& path) {
  ObjectReader fields(json, path);
  ProgramEdit edit;
  for (const EditFields& row : kEditFields) {
    if (!json.contains(row.verb) || (row.place != nullptr && !json.contains(row.place))) continue;
    edit.kind = row.kind;
    const char* const place = row.place != nullptr ? row.place : row.verb;
    read_place(fields.required(place), FieldPath(path, place), edit);
    if (row.place != nullptr) edit.text = fields.text(row.verb);
    if (row.text != nullptr) edit.text = fields.text(row.text);
    if (const Json* const build = fields.optional("build")) {
      const FieldPath build_path(path, "build");
      const std::string name = read_text(*build, build_path);
      if (name != "optimized" && name != "unoptimized") {
        throw_unexpected(build_path, "optimized or unoptimized", *build);
      }
      edit.build = name == "optimized" ? EditedBuild::optimized : EditedBuild::unoptimized;
    }
    fields.finish(
        {"insert", "before", "after", "replace", "by", "remove", "respell", "as", "build"});
    return edit;
  }
  throw_unexpected(path,
                   "\"insert\" with \"before\" or \"after\", \"replace\", \"remove\" or "
                   "\"respell\"",
                   json);
}

}  // namespace

Json to_json(const ptx::Edits& edits) {
  Json list = Json::array();
  for (const ProgramEdit& edit : edits) {
    Json json = Json::object();
    for (const EditFields& row : kEditFields) {
      if (row.kind != edit.kind) continue;
      if (row.place != nullptr) {
        json[row.verb] = edit.text;
        json[row.place] = place_json(edit);
      } else {
        json[row.verb] = place_json(edit);
        if (row.text != nullptr) json[row.text] = edit.text;
      }
    }
    if (edit.build != EditedBuild::both) {
      json["build"] = edit.build == EditedBuild::optimized ? "optimized" : "unoptimized";
    }
    list.push_back(std::move(json));
  }
  return list;
}

ptx::Edits edits_from(const Json& json, const FieldPath& path) {
  if (!json.is_array()) throw_unexpected(path, "a list of edits", json);
  ptx::Edits edits;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const FieldPath at(path, i);
    edits.push_back(edit_from(json[i], at));
  }
  return edits;
}

}  // namespace warpcheck
