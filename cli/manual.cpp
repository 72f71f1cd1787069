#include "cli/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace warpcheck {
namespace {

// groff_char(7): escapes characters that would be typeset differently, and those that begin a
// request.
std::string escape(std::string_view text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) escaped += "\\&";
    line_begins = c == '\n';
    switch (c) {
      case '\\': escaped += "\\(rs"; break;
      case '-': escaped += "\\-"; break;
      case '\'': escaped += "\\(aq"; break;
      case '`': escaped += "\\(ga"; break;
      case '^': escaped += "\\(ha"; break;
      case '~': escaped += "\\(ti"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", escape(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", escape(text)); }

std::vector<std::string> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t end; (end = text.find(separator)) != std::string_view::npos;) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

// --- options ------------------------------------------------------------------------------------

// CLI11 describes types as "INT:POSITIVE" and "TEXT:{both,optimized}": the choice if there is one,
// else the type.
std::string value_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) {
    return italic(type.substr(0, type.find(':')));
  }
  std::string choice;
  for (const std::string& value : parts_of(type.substr(begin + 1, end - begin - 1), ",")) {
    choice += (choice.empty() ? "" : "|\\:") + bold(value);  // \: allows a break
  }
  return choice;
}

std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return italic(option.get_name(true));
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const std::string& name : option.get_snames()) add(bold("-" + name));
  for (const std::string& name : option.get_lnames()) add(bold("--" + name));
  const std::string value = value_of(option);
  return value.empty() ? names : names + " " + value;
}

bool is_help(const CLI::Option& option) { return option.check_lname("help"); }

void add_options(const CLI::App& command, std::string& page) {
  for (const CLI::Option* option : command.get_options()) {
    if (is_help(*option)) continue;
    page += fmt::format(".TP\n{}\n{}", names_of(*option), escape(option->get_description()));
    const std::string preset = option->get_default_str();
    if (!preset.empty()) page += fmt::format(" (default: {})", escape(preset));
    page += "\n";
  }
}

// "check [OPTION...] [PAIR...]"
std::string synopsis(const std::string& name, const CLI::App& command) {
  std::string line = bold(name);
  const auto options = command.get_options();
  if (std::ranges::any_of(options, [](const CLI::Option* option) {
        return !option->get_positional() && !is_help(*option);
      })) {
    line += " [" + italic("OPTION") + "...]";
  }
  for (const CLI::Option* option : options) {
    if (!option->get_positional()) continue;
    std::string word = italic(option->get_name(true));
    if (option->get_expected_max() > 1) word += "...";
    line += option->get_required() ? " " + word : fmt::format(" [{}]", word);
  }
  return line;
}

// --- footers ------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 2> kLabels{"Exit status", "Environment"};

// Removes and returns the label at the beginning of a paragraph; empty: it has none.
std::string_view take_label(std::string& paragraph) {
  for (const std::string_view label : kLabels) {
    if (!paragraph.starts_with(label) || paragraph.substr(label.size(), 2) != ": ") continue;
    paragraph.erase(0, label.size() + 2);
    return label;
  }
  return "";
}

// Filled lines; lines indented by two are kept.
std::string paragraph_text(const std::string& paragraph) {
  std::string text;
  bool example = false;
  for (const std::string& line : parts_of(paragraph, "\n")) {
    const bool indented = line.starts_with("  ");
    if (indented != example) text += indented ? ".RS 4\n.nf\n" : ".fi\n.RE\n";
    example = indented;
    text += escape(indented ? line.substr(2) : line) + "\n";
  }
  return example ? text + ".fi\n.RE\n" : text;
}

void add_footer(const CLI::App& command, std::string& page) {
  // CLI11 passes a footer on to subcommands without one.
  const CLI::App* parent = command.get_parent();
  if (parent != nullptr && parent->get_footer() == command.get_footer()) return;
  for (std::string paragraph : parts_of(command.get_footer(), "\n\n")) {
    if (paragraph.empty()) continue;
    const std::string_view label = take_label(paragraph);
    page += ".PP\n";
    if (!label.empty()) page += fmt::format("{}: ", label);
    page += paragraph_text(paragraph);
  }
}

// --- sections -----------------------------------------------------------------------------------

void add_command(const CLI::App& command, const std::string& prefix, std::string& page) {
  if (command.get_group().empty()) return;
  const std::string name = prefix + command.get_name();
  page += fmt::format(".SS {}\n{}\n.PP\n{}.\n", escape(name), synopsis(name, command),
                      escape(command.get_description()));
  add_options(command, page);
  add_footer(command, page);
  for (const CLI::App* inner : command.get_subcommands({})) add_command(*inner, name + " ", page);
}

// Of the program's footer: paragraphs with a label become sections.
void add_program_footer(const CLI::App& app, bool with_label, std::string& page) {
  for (std::string paragraph : parts_of(app.get_footer(), "\n\n")) {
    const std::string label(take_label(paragraph));
    if (paragraph.empty() || label.empty() == with_label) continue;
    std::string title;
    for (const char c : label) title += static_cast<char>(std::toupper(c));
    page += label.empty() ? ".PP\n" : fmt::format(".SH {}\n", title);
    page += paragraph_text(paragraph);
  }
}

}  // namespace

std::string manual_page(const CLI::App& app, std::string_view program, std::string_view version) {
  std::string title;
  for (const char c : program) title += static_cast<char>(std::toupper(c));
  // No date: the page is always the same.
  std::string page =
      fmt::format(".TH {} 1 \"\" \"warpcheck {}\" \"User Commands\"\n", escape(title), version);
  std::string summary = app.get_description();
  if (summary.ends_with('.')) summary.pop_back();
  summary.front() = static_cast<char>(std::tolower(summary.front()));
  page += fmt::format(".SH NAME\n{} \\- {}\n", escape(program), escape(summary));
  page += fmt::format(".SH SYNOPSIS\n{} {} [{}...]\n", bold(program), italic("COMMAND"),
                      italic("OPTION"));
  page += fmt::format(".SH DESCRIPTION\n{}\n", escape(app.get_description()));
  add_program_footer(app, false, page);
  page += ".SH COMMANDS\n";
  for (const CLI::App* command : app.get_subcommands({})) add_command(*command, "", page);
  add_program_footer(app, true, page);
  return page;
}

}  // namespace warpcheck
