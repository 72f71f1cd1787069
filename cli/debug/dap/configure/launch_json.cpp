#include "cli/debug/dap/configure/launch_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/input/json.hpp"

namespace warpcheck::dap {
namespace {

constexpr int kJsonIndent = 2;
constexpr const char* kList = "configurations";

// Walks over JSON with comments and trailing commas, as VS Code takes it, and notes where the list
// of configurations begins and which names are in it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  struct Found {
    std::size_t begin = 0;  // behind the list's bracket
    bool is_empty = true;
    std::set<std::string> names;
  };

  Found scan() {
    skip_space();
    object([&](const std::string& member) {
      if (member != kList) return value();
      is_found_ = true;
      list();
    });
    skip_space();
    if (at_ != text_.size()) fail("the end of the file");
    if (!is_found_) {
      throw LaunchJsonError(fmt::format("expected a list \"{}\", found none", kList));
    }
    return found_;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<long>(at_), '\n');
    const std::string found =
        at_ < text_.size() ? fmt::format("\"{}\"", text_[at_]) : "the end of the file";
    throw LaunchJsonError(fmt::format("line {}: expected {}, found {}", line, expected, found));
  }

  [[nodiscard]] bool is_next(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!is_next(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("\"{}\"", c));
  }

  void skip_space() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (std::string_view(" \t\r\n").find(rest.front()) != rest.npos) {
        ++at_;
      } else if (rest.starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest.starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == text_.npos) fail("*/ at the end of a comment");
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  std::string text() {
    const std::size_t begin = at_;
    expect('"');
    while (!is_next('"')) {
      if (at_ >= text_.size() || text_[at_] == '\n') fail("the end of a text");
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    ++at_;
    const Json read = Json::parse(text_.substr(begin, at_ - begin), nullptr, false);
    return read.is_string() ? read.get<std::string>() : std::string();
  }

  // member: reads the value of the member of that name.
  template <class Member>
  void object(Member member) {
    expect('{');
    for (skip_space(); !take('}'); skip_space()) {
      const std::string name = text();
      skip_space();
      expect(':');
      skip_space();
      member(name);
      skip_space();
      if (!take(',') && !is_next('}')) fail("\",\" or \"}\"");
    }
  }

  template <class Element>
  void array(Element element) {
    expect('[');
    for (skip_space(); !take(']'); skip_space()) {
      element();
      skip_space();
      if (!take(',') && !is_next(']')) fail("\",\" or \"]\"");
    }
  }

  void value() {
    if (is_next('{')) return object([&](const std::string&) { value(); });
    if (is_next('[')) return array([&] { value(); });
    if (is_next('"')) return static_cast<void>(text());
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '-' || text_[at_] == '+' || text_[at_] == '.')) {
      ++at_;
    }
    if (at_ == begin) fail("a value");
  }

  void list() {
    found_.begin = at_ + 1;
    array([&] {
      found_.is_empty = false;
      if (!is_next('{')) return value();
      object([&](const std::string& member) {
        if (member != "name" || !is_next('"')) return value();
        found_.names.insert(text());
      });
    });
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_found_ = false;
  Found found_;
};

std::string indented(const std::string& text, int columns) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result.append(static_cast<std::size_t>(columns), ' ');
  }
  return result;
}

}  // namespace

std::string new_launch_json(const Json& configurations) {
  const Json document = {{"version", "0.2.0"}, {kList, configurations}};
  return document.dump(kJsonIndent) + "\n";
}

std::optional<std::string> with_configurations(std::string_view text, const Json& configurations) {
  const Scanner::Found found = Scanner(text).scan();
  std::string added;
  for (const Json& each : configurations) {
    if (found.names.contains(each.at("name").get<std::string>())) continue;
    if (!added.empty()) added += ',';
    added += fmt::format("\n{0:{1}}", "", 2 * kJsonIndent) +
             indented(each.dump(kJsonIndent), 2 * kJsonIndent);
  }
  if (added.empty()) return std::nullopt;
  if (!found.is_empty) added += ',';
  // A list on one line, "[]", gets a line of its own for its end.
  const std::size_t next = text.find_first_not_of(" \t\r", found.begin);
  if (next != text.npos && text[next] != '\n' && found.is_empty) {
    added += fmt::format("\n{0:{1}}", "", kJsonIndent);
  }
  return fmt::format("{}{}{}", text.substr(0, found.begin), added, text.substr(found.begin));
}

}  // namespace warpcheck::dap
