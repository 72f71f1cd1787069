#include "vgpu/ptx/forms.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "vgpu/ptx/suffixes.hpp"

namespace warpcheck::ptx {
namespace {

constexpr FormRow kRows[] = {
#define FORM(family, target, mnemonic, operands, text) \
  FormRow{#family, target, mnemonic, operands, text},
#define UNRECORDED(family, target, mnemonic, operands, text) \
  FormRow{#family, target, mnemonic, operands, text, false},
#include "vgpu/ptx/forms.def"
#undef UNRECORDED
#undef FORM
};

// A text between braces, whose alternatives are separated by commas.
struct Choice {
  std::string_view before, alternatives, after;
};

bool find_choice(std::string_view text, Choice& choice) {
  const std::size_t open = text.find('{');
  if (open == std::string_view::npos) return false;
  const std::size_t close = text.find('}', open);
  choice = {text.substr(0, open), text.substr(open + 1, close - open - 1), text.substr(close + 1)};
  return true;
}

template <class Visit>
void for_each_word(std::string_view text, char separator, Visit visit) {
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(separator, from), text.size());
    visit(text.substr(from, end - from));
    from = end + 1;
  }
}

// Expands every combination of alternatives; `chosen` grows by one for each pair of braces.
template <class Visit>
void expand(const std::string& text, std::vector<std::string>& chosen, Visit visit) {
  Choice choice;
  if (!find_choice(text, choice)) return visit(text);
  for_each_word(choice.alternatives, ',', [&](std::string_view alternative) {
    std::string whole(choice.before);
    whole.append(alternative).append(choice.after);
    chosen.emplace_back(alternative);
    expand(whole, chosen, visit);
    chosen.pop_back();
  });
}

// Replaces $1 ... $9, and $m; < and > become braces.
std::string filled_in(std::string_view text, const std::vector<std::string>& chosen,
                      std::string_view mnemonic) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '$') {
      const char what = text[++at];
      out += what == 'm' ? std::string(mnemonic) : chosen.at(static_cast<std::size_t>(what - '1'));
    } else {
      out += text[at] == '<' ? '{' : text[at] == '>' ? '}' : text[at];
    }
  }
  return out;
}

// Returns "f32" for "ftz.f32".
std::string last_part(std::string_view word) {
  const std::size_t dot = word.rfind('.');
  return std::string(dot == std::string_view::npos ? word : word.substr(dot + 1));
}

void read_operands(std::string_view text, InstructionForm& form) {
  std::vector<std::string>* list = &form.results;
  for_each_word(text, ' ', [&](std::string_view word) {
    if (word.empty()) return;
    if (word == "=") {
      list = &form.sources;
    } else {
      list->push_back(last_part(word));
    }
  });
}

// Returns `$m d, a, b;` with the form's number of operands.
std::string default_text(const InstructionForm& form) {
  constexpr std::array<std::string_view, 2> kResults = {"d", "e"};
  constexpr std::array<std::string_view, 4> kSources = {"a", "b", "c", "f"};
  std::string text = "$m";
  for (std::size_t i = 0; i < form.results.size(); ++i) {
    text.append(i == 0 ? " " : ", ").append(kResults[i]);
  }
  for (std::size_t i = 0; i < form.sources.size(); ++i) text.append(", ").append(kSources[i]);
  return text + ";";
}

}  // namespace

std::vector<InstructionForm> expand_forms(std::span<const FormRow> rows) {
  std::vector<InstructionForm> forms;
  std::unordered_set<std::string> seen;
  for (const FormRow& row : rows) {
    std::vector<std::string> chosen;
    expand(std::string(row.mnemonic), chosen, [&](const std::string& pattern) {
      const std::string mnemonic = filled_in(pattern, chosen, "");
      InstructionForm form{std::string(row.family), row.target, mnemonic, {}, {}, {}, row.recorded};
      read_operands(filled_in(row.operands, chosen, mnemonic), form);
      const std::string text = row.text.empty() ? default_text(form) : std::string(row.text);
      std::vector<std::string> more = chosen;
      expand(text, more, [&](const std::string& one) {
        form.text = filled_in(one, more, mnemonic);
        if (seen.insert(form.text).second) forms.push_back(form);
      });
    });
  }
  return forms;
}

namespace {

// Returns the mnemonic with its suffixes in a fixed order: assemblers accept them in any order, and
// programs use that (`lg2.approx.f32.ftz`).  Types, and layouts of matrices, keep their relative
// order.
std::string in_order(std::string_view mnemonic) {
  std::vector<std::string_view> words;
  for_each_word(mnemonic, '.', [&](std::string_view word) { words.push_back(word); });
  const auto is_positional = [](std::string_view word) {
    if (word == "row" || word == "col") return true;
    const std::span<const Suffix> meanings = find_suffixes(word);
    return std::ranges::any_of(
        meanings, [](const Suffix& suffix) { return suffix.suffix_class == SuffixClass::type; });
  };
  const auto others = std::stable_partition(words.begin() + 1, words.end(), is_positional);
  std::sort(others, words.end());
  std::string text;
  for (const std::string_view word : words) text.append(word).append(".");
  return text;
}

// Returns "add" for "add.sat.s32".
std::string_view opcode_of(std::string_view mnemonic) {
  return mnemonic.substr(0, mnemonic.find('.'));
}

// The mnemonics of all forms, as written and in_order(), by opcode.  A program has few opcodes, and
// expanding the rows of all of them would take longer than most launches.
class KnownForms {
 public:
  KnownForms() {
    std::vector<std::string> chosen;
    for (const FormRow& row : kRows) {
      std::set<std::string> opcodes;
      expand(std::string(begin_of(row.mnemonic)), chosen,
             [&](const std::string& one) { opcodes.emplace(opcode_of(one)); });
      for (const std::string& opcode : opcodes) rows_[opcode].push_back(&row);
    }
  }

  bool has(std::string_view mnemonic) {
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = forms_.try_emplace(std::string(opcode_of(mnemonic)));
    if (is_new) add_forms(known->first, known->second);
    return known->second.contains(std::string(mnemonic)) ||
           known->second.contains(in_order(mnemonic));
  }

 private:
  using Forms = std::unordered_set<std::string>;

  // Returns the text up to the first dot that is not between braces.
  static std::string_view begin_of(std::string_view pattern) {
    bool is_choice = false;
    for (std::size_t at = 0; at < pattern.size(); ++at) {
      if (pattern[at] == '{') is_choice = true;
      if (pattern[at] == '}') is_choice = false;
      if (pattern[at] == '.' && !is_choice) return pattern.substr(0, at);
    }
    return pattern;
  }

  void add_forms(const std::string& opcode, Forms& forms) const {
    const auto rows = rows_.find(opcode);
    if (rows == rows_.end()) return;
    std::vector<std::string> chosen;
    for (const FormRow* row : rows->second) {
      expand(std::string(row->mnemonic), chosen, [&](const std::string& one) {
        const std::string form = filled_in(one, chosen, "");
        forms.insert(in_order(form));
        forms.insert(form);
      });
    }
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::vector<const FormRow*>> rows_;
  std::unordered_map<std::string, Forms> forms_;
};

}  // namespace

std::span<const FormRow> form_rows() { return kRows; }

const std::vector<InstructionForm>& instruction_forms() {
  static const auto& forms = *new const std::vector<InstructionForm>(expand_forms(kRows));
  return forms;
}

bool has_form(std::string_view mnemonic) {
  static auto& known = *new KnownForms;
  return known.has(mnemonic);
}

}  // namespace warpcheck::ptx
