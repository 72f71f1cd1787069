#include "vgpu/litmus/tensor_memory/tensor_programs.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "vgpu/text/trimmed.hpp"

namespace warpcheck::litmus {
namespace {

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Replaces each word for which replace(word) has a text.
template <typename Replace>
std::string replace_words(std::string_view text, Replace replace) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_of_word(text[end])) ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    const std::optional<std::string> other = replace(word);
    result += other ? *other : std::string(word);
    at = end;
  }
  return result;
}

struct BodyLine {
  std::uint32_t number = 0;  // in its file
  std::string label, text;
};

[[noreturn]] void fail(const std::string& file, std::uint32_t line, std::string_view what) {
  throw std::runtime_error(fmt::format("{}:{}: {}", file, line, what));
}

// Makes PTX of the lines of a body.
class Expansion {
 public:
  Expansion(const std::string& file, const TensorDefinitions& definitions)
      : file_(file), definitions_(definitions) {}

  void add(const BodyLine& line) {
    line_ = line.number;
    ptx_ += fmt::format(".loc 1 {} 0\n", line.number);
    for (const std::string& part : split_trimmed<std::string>(line.text, " ; ")) expand(part, 0);
  }
  std::string end() {
    if (!open_.empty()) fail(file_, line_, "a `}` is missing");
    return std::move(ptx_);
  }
  // Adds the lines of a definition.
  void add(std::string_view definition) { expand(std::string(definition), 0); }

 private:
  void expand(const std::string& text, int depth) {
    constexpr int kDepthMax = 8;
    if (depth > kDepthMax) fail(file_, line_, "definitions that use each other");
    if (text.empty()) return;
    if (text == "}") return close();
    if (text.back() == '{' && text.find_first_of(";[") == std::string::npos) return open(text);
    if (text.back() == ';' || text.back() == ':' || text.front() == '.') {
      ptx_ += text + "\n";
      return;
    }
    const std::size_t space = text.find(' ');
    const std::string name = text.substr(0, space);
    const auto found = definitions_.find(name);
    if (found == definitions_.end()) fail(file_, line_, fmt::format("no definition of {}", name));
    const TensorDefinition& definition = found->second;
    const std::vector<std::string> values =
        space == std::string::npos ? std::vector<std::string>{}
                                   : split_trimmed<std::string>(text.substr(space), ",");
    if (values.size() != definition.parameters.size()) {
      fail(file_, line_, fmt::format("{} has {} arguments", name, definition.parameters.size()));
    }
    const std::uint32_t number = unique_++;
    for (std::string line : definition.lines) {
      constexpr std::string_view kUnique = "UNIQUE";
      for (std::size_t at = 0; (at = line.find(kUnique, at)) != std::string::npos;) {
        line.replace(at, kUnique.size(), std::to_string(number));
      }
      const auto value_of = [&](std::string_view word) -> std::optional<std::string> {
        const auto at = std::ranges::find(definition.parameters, word);
        if (at == definition.parameters.end()) return std::nullopt;
        return values[static_cast<std::size_t>(at - definition.parameters.begin())];
      };
      expand(replace_words(line, value_of), depth + 1);
    }
  }
  void open(const std::string& text) {
    const std::vector<std::string> words = split_trimmed<std::string>(text, " ");
    const bool is_known =
        words.size() == 3 && (words[0] == "thread" || words[0] == "warp" || words[0] == "block");
    if (!is_known) fail(file_, line_, "expected `thread N {`, `warp N {` or `block N {`");
    const std::uint32_t number = unique_++;
    ptx_ += fmt::format("{{.reg .pred %only; setp.ne.u32 %only, %{}, {}; @%only bra END{};}}\n",
                        words[0], words[1], number);
    open_.push_back(number);
  }
  void close() {
    if (open_.empty()) fail(file_, line_, "a `}` too many");
    ptx_ += fmt::format("END{}:\n", open_.back());
    open_.pop_back();
  }

  const std::string& file_;
  const TensorDefinitions& definitions_;
  std::string ptx_;
  std::uint32_t line_ = 0, unique_ = 0;
  std::vector<std::uint32_t> open_;
};

class Reader {
 public:
  Reader(const std::string& file, const TensorDefinitions& definitions)
      : file_(file), definitions_(definitions) {}

  std::vector<TensorProgram> read(std::string_view text) {
    for (const std::string& line : split_trimmed<std::string>(text, "\n")) {
      ++line_;
      if (line.empty() || line.front() == '#') continue;
      if (line.starts_with("program ")) {
        begin_group(line);
      } else if (line.front() == '"') {
        read_sentence(line);
      } else if (line == "clean" || line.starts_with("clean ")) {
        add_program(line, true);
      } else if (line.starts_with("fault ")) {
        add_program(line, false);
      } else {
        read_body(line);
      }
    }
    return std::move(programs_);
  }

 private:
  [[noreturn]] void fail_here(std::string_view what) const { fail(file_, line_, what); }

  void begin_group(const std::string& line) {
    const std::vector<std::string> words = split_trimmed<std::string>(line, " ");
    group_ = {};
    group_.file = file_;
    group_.name = words[1];
    body_.clear();
    has_programs_ = false;
    for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
      const auto count = static_cast<std::uint32_t>(std::stoul(words[i + 1]));
      if (words[i] == "blocks") {
        group_.blocks = count;
      } else if (words[i] == "threads") {
        group_.threads = count;
      } else {
        fail_here("expected `blocks N` or `threads N`");
      }
    }
  }
  void read_sentence(const std::string& line) {
    const std::size_t end = line.rfind('"');
    const bool has_section = end != 0 && line.find("9.7", end) != std::string::npos;
    if (!has_section) fail_here("expected a sentence of the ISA and its section");
    if (has_programs_) {
      programs_.back().sentences = {line};
    } else {
      group_.sentences.push_back(line);
    }
  }
  void read_body(const std::string& line) {
    if (has_programs_ || group_.name.empty()) fail_here("expected `program`");
    BodyLine one{line_, {}, line};
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos && std::ranges::all_of(line.substr(0, colon), is_of_word)) {
      one.label = line.substr(0, colon);
      one.text = trimmed(line.substr(colon + 2));
    }
    body_.push_back(std::move(one));
  }

  // "clean", "clean NAME: CHANGES" or "fault NAME: CHANGES -> FINDINGS: MARKS says "WORDS"".
  void add_program(const std::string& line, bool is_clean) {
    if (group_.sentences.empty()) fail_here("a sentence of the ISA is missing");
    TensorProgram program = group_;
    std::vector<BodyLine> body = body_;
    std::string_view rest = line;
    if (line != "clean") {
      rest.remove_prefix(6);
      const std::size_t arrow = rest.find(" -> ");
      const std::string_view head = rest.substr(0, arrow);
      const std::size_t colon = head.find(": ");
      program.name = trimmed(head.substr(0, colon));
      if (colon != std::string_view::npos) change(body, head.substr(colon + 2));
      if (is_clean != (arrow == std::string_view::npos)) fail_here("a fault has findings");
      if (!is_clean) read_findings(program, rest.substr(arrow + 4));
    }
    Expansion expansion(file_, definitions_);
    expansion.add("prologue");
    for (const BodyLine& one : body) expansion.add(one);
    program.ptx = fmt::format(
        ".version 9.0\n.target sm_100a\n.address_size 64\n.file 1 \"{}\"\n"
        ".visible .entry {}(.param .u64 out)\n{{\n{}ret;\n}}\n",
        file_, program.name, expansion.end());
    programs_.push_back(std::move(program));
    has_programs_ = true;
  }

  BodyLine& line_of(std::vector<BodyLine>& body, std::string_view label) const {
    const auto found = std::ranges::find(body, label, &BodyLine::label);
    if (found == body.end()) fail_here(fmt::format("no line has the label {}", label));
    return *found;
  }
  // "without a b, c = st %own, 8": changes are separated by " & ".
  void change(std::vector<BodyLine>& body, std::string_view changes) const {
    for (const std::string& one : split_trimmed<std::string>(changes, " & ")) {
      if (one.starts_with("without ")) {
        for (const std::string& label : split_trimmed<std::string>(one.substr(8), " "))
          line_of(body, label).text = "";
        continue;
      }
      const std::size_t equals = one.find(" = ");
      if (equals == std::string::npos) fail_here("expected `without LABELS` or `LABEL = LINES`");
      line_of(body, trimmed(one.substr(0, equals))).text = one.substr(equals + 3);
    }
  }
  void read_findings(TensorProgram& program, std::string_view text) {
    const std::size_t says = text.find(" says \"");
    if (says != std::string_view::npos) {
      program.words = text.substr(says + 7, text.rfind('"') - says - 7);
      text = text.substr(0, says);
    }
    const std::size_t colon = text.find(": ");
    for (std::string& one : split_trimmed<std::string>(text.substr(0, colon), " + ")) {
      program.findings.insert(std::move(one));
    }
    if (colon == std::string_view::npos) return;
    for (const std::string& mark : split_trimmed<std::string>(text.substr(colon + 2), ",")) {
      const std::size_t space = mark.rfind(' ');
      const std::string label = mark.substr(space + 1);
      program.marks.emplace(line_of(body_, label).number, mark.substr(0, space));
    }
  }

  const std::string& file_;
  const TensorDefinitions& definitions_;
  std::uint32_t line_ = 0;
  TensorProgram group_;
  std::vector<BodyLine> body_;
  bool has_programs_ = false;  // of this group
  std::vector<TensorProgram> programs_;
};

}  // namespace

TensorDefinitions read_tensor_definitions(std::string_view text, const std::string& file) {
  TensorDefinitions definitions;
  TensorDefinition* open = nullptr;
  std::uint32_t number = 0;
  for (const std::string& line : split_trimmed<std::string>(text, "\n")) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("define ")) {
      const std::string rest = line.substr(7);
      const std::size_t space = rest.find(' ');
      const auto [added, is_new] = definitions.try_emplace(rest.substr(0, space));
      if (!is_new) fail(file, number, "a second definition");
      open = &added->second;
      if (space != std::string::npos)
        open->parameters = split_trimmed<std::string>(rest.substr(space), ",");
    } else if (open == nullptr) {
      fail(file, number, "expected `define NAME PARAMETERS`");
    } else {
      open->lines.push_back(line);
    }
  }
  return definitions;
}

std::vector<TensorProgram> read_tensor_programs(std::string_view text, const std::string& file,
                                                const TensorDefinitions& definitions) {
  return Reader(file, definitions).read(text);
}

}  // namespace warpcheck::litmus
