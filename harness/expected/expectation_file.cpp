#include "harness/expected/expectation_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include "harness/case/atomic_file.hpp"
#include "harness/expected/expected_findings.hpp"
#include "vgpu/text/template_arguments.hpp"
#include "vgpu/text/trimmed.hpp"

namespace warpcheck {
namespace {

constexpr std::array<std::string_view, 6> kSpaces{"shared",   "global", "local",
                                                  "constant", "param",  "host"};
constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kTextMax = 100;  // of a line's code, in an entry that is written

// Takes the first word off.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

std::string names_of_kinds() {
  constexpr std::array kNames{
#define FINDING_KIND(enumerator, name, checker) name,
#include "vgpu/check/finding_kinds.def"
#undef FINDING_KIND
  };
  return fmt::format("{}", fmt::join(kNames, ", "));
}

class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  std::vector<Expectation> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      read_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    end_entry();
    return std::move(entries_);
  }

 private:
  [[noreturn]] void fail(std::uint32_t line, std::string_view what) const {
    throw CaseFileError(fmt::format("{}:{}: {}", name_, line, what));
  }
  [[noreturn]] void fail(std::string_view what) const { fail(line_, what); }

  void read_line(std::string_view line) {
    const std::string_view words = trimmed(line);
    if (words.empty() || words.starts_with('#')) return;
    if (kBlanks.find(line.front()) == std::string_view::npos) {
      end_entry();
      read_head(words);
    } else if (entries_.empty()) {
      fail("this line is indented, so it belongs to a finding, and there is none above it");
    } else {
      read_field(words);
    }
  }

  void read_head(std::string_view words) {
    Expectation entry{.source = name_, .line = line_};
    const std::string_view kind = take_word(words);
    vgpu::FindingKind known{};
    if (vgpu::find_kind(kind, known)) {
      entry.kind = known;
    } else if (kind != "*") {
      fail(
          fmt::format("a line that is not indented begins with the kind of a finding ({}) or *; "
                      "found '{}'",
                      names_of_kinds(), kind));
    }
    while (!words.empty()) {
      const std::string_view word = take_word(words);
      if (std::ranges::find(kSpaces, word) != kSpaces.end()) {
        entry.space = word;
      } else if (word == "note") {
        entry.is_note = true;
      } else {
        fail(fmt::format("behind the kind, expected a memory ({}) or note; found '{}'",
                         fmt::join(kSpaces, ", "), word));
      }
    }
    entries_.push_back(std::move(entry));
  }

  void read_field(std::string_view words) {
    Expectation& entry = entries_.back();
    std::string_view rest = words;
    const std::string_view word = take_word(rest);
    const std::array<std::pair<std::string_view, std::string*>, 3> fields{
        {{"program", &entry.program}, {"kernel", &entry.kernel}, {"object", &entry.object}}};
    const auto field =
        std::ranges::find(fields, word, &std::pair<std::string_view, std::string*>::first);
    const bool is_word = field != fields.end() || word == "in" || word == "because";
    if (is_word && rest.empty()) fail(fmt::format("expected something behind '{}'", word));
    if (field != fields.end()) {
      if (!field->second->empty()) fail(fmt::format("a second '{}' of one finding", word));
      *field->second = rest;
    } else if (word == "in") {
      entry.files.emplace_back(rest);
    } else if (word == "because") {
      entry.reason += (entry.reason.empty() ? "" : " ") + std::string(rest);
    } else {
      entry.places.push_back(read_place(words));
    }
  }

  // "[ROLE ]at FILE[:LINE][: CODE]"
  Expectation::Place read_place(std::string_view words) const {
    constexpr std::string_view kAt = "at ";
    const std::size_t at = words.starts_with(kAt) ? 0 : words.find(" at ");
    if (at == std::string_view::npos) {
      fail(
          fmt::format("expected program, kernel, object, in, because, or a side, such as `read at "
                      "src/scan.cu: s[t] += s[t - 1];`; found '{}'",
                      words));
    }
    Expectation::Place place;
    place.role = trimmed(words.substr(0, at));
    std::string_view file = trimmed(words.substr(words.find(kAt, at) + kAt.size()));
    if (const std::size_t colon = file.find(": "); colon != std::string_view::npos) {
      place.text = code_of_line(file.substr(colon + 2));
      file = trimmed(file.substr(0, colon));
    }
    if (const std::size_t colon = file.rfind(':'); colon != std::string_view::npos) {
      const std::string_view number = file.substr(colon + 1);
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), place.line);
      if (error != std::errc() || end != number.data() + number.size() || place.line == 0) {
        fail(
            fmt::format("expected a line's number, or `: ` and its code, behind the file; found "
                        "'{}'",
                        number));
      }
      file = file.substr(0, colon);
    }
    if (file.empty()) fail("expected a file behind 'at'");
    place.file = file;
    return place;
  }

  void end_entry() const {
    if (entries_.empty()) return;
    const Expectation& entry = entries_.back();
    if (entry.reason.empty()) {
      fail(entry.line, "this finding has no reason: add an indented line `because ...`");
    }
    if (entry.kernel.empty() && entry.object.empty() && entry.places.empty() &&
        entry.files.empty()) {
      fail(entry.line,
           fmt::format("this would accept every {}: add an indented line with the kernel, a side "
                       "(`read at FILE: CODE`), the object, or `in FILES`",
                       entry.kind ? vgpu::name_of(*entry.kind) : "finding"));
    }
  }

  std::string name_;
  std::uint32_t line_ = 0;
  std::vector<Expectation> entries_;
};

// The pattern of a file: below `directory` or the current one relative to it, else its last two
// names.
std::string file_pattern(const std::string& file, const std::filesystem::path& directory) {
  namespace fs = std::filesystem;
  const std::string normal = fs::absolute(file).lexically_normal().string();
  std::string name;
  for (const fs::path& base : {fs::current_path() / directory, fs::current_path()}) {
    const std::string prefix = (base / "").lexically_normal().string();
    if (name.empty() && normal.starts_with(prefix)) name = normal.substr(prefix.size());
  }
  if (name.empty()) {
    const fs::path path(normal);
    name = (path.parent_path().filename() / path.filename()).string();
  }
  std::string pattern;
  for (const char letter : name) {
    if (letter == ':') {
      pattern += '?';  // it would end the name
      continue;
    }
    if (std::string_view("*?[]\\").find(letter) != std::string_view::npos) pattern += '\\';
    pattern += letter;
  }
  return pattern;
}

std::string read_text(int file, const std::filesystem::path& path) {
  std::string text;
  std::array<char, 4096> block{};
  for (;;) {
    const ssize_t got = ::read(file, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_file_error("read", path);
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

// A file that is locked against others who add to it.
class LockedFile {
 public:
  explicit LockedFile(std::filesystem::path path) : path_(std::move(path)) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) throw_file_error("write", path_);
    while (::flock(file_, LOCK_EX) != 0) {
      if (errno != EINTR) throw_file_error("lock", path_);
    }
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile() { ::close(file_); }

  [[nodiscard]] std::string read() const { return read_text(file_, path_); }

  // All of it or nothing.
  void append(std::string_view text) {
    const off_t size = ::lseek(file_, 0, SEEK_END);
    while (!text.empty()) {
      const ssize_t done = ::write(file_, text.data(), text.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) {
        const int error = errno;
        if (size >= 0) (void)::ftruncate(file_, size);
        errno = error;
        throw_file_error("write", path_);
      }
      text.remove_prefix(static_cast<std::size_t>(done));
    }
  }

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace

std::vector<Expectation> read_expectations(std::string_view text, const std::string& name) {
  return Reader(name).read(text);
}

std::vector<Expectation> read_expectation_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw CaseFileError(fmt::format("cannot read {}: it is a directory", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_file_error("read", path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return read_expectations(text, path);
}

std::string expectation_text(const Expectation& expectation) {
  std::string text = expectation.kind ? std::string(vgpu::name_of(*expectation.kind)) : "*";
  if (!expectation.space.empty()) text += " " + expectation.space;
  if (expectation.is_note) text += " note";
  text += "\n";
  const auto add = [&](std::string_view word, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {} {}\n", word, value);
  };
  add("program", expectation.program);
  add("kernel", expectation.kernel);
  add("object", expectation.object);
  for (const Expectation::Place& place : expectation.places) {
    text += fmt::format("  {}{}at {}", place.role, place.role.empty() ? "" : " ", place.file);
    if (place.line != 0) text += fmt::format(":{}", place.line);
    if (!place.text.empty()) text += ": " + place.text;
    text += "\n";
  }
  for (const std::string& file : expectation.files) add("in", file);
  add("because", expectation.reason);
  return text;
}

Expectation expectation_of(const vgpu::Finding& finding, const std::string& program,
                           const std::filesystem::path& path, const SourceLines& lines) {
  Expectation expectation{.kind = finding.kind,
                          .space = finding.space,
                          .is_note = finding.severity == vgpu::Severity::note,
                          .program = program,
                          .kernel = without_template_arguments(finding.kernel),
                          .reason = std::string(kNoReason)};
  for (const vgpu::AccessSide& side : finding.accesses) {
    if (side.file.empty()) continue;
    Expectation::Place place{.role = side.role,
                             .file = file_pattern(side.file, path.parent_path())};
    const std::vector<std::string>* const text = lines(side.file);
    if (text != nullptr && side.line != 0 && side.line <= text->size()) {
      place.text = code_of_line((*text)[side.line - 1]);
      if (place.text.size() > kTextMax) place.text = place.text.substr(0, kTextMax) + "*";
    }
    if (place.text.empty()) place.line = side.line;
    if (std::ranges::find(expectation.places, place) == expectation.places.end()) {
      expectation.places.push_back(std::move(place));
    }
  }
  if (expectation.kernel.empty() && expectation.places.empty()) expectation.object = finding.object;
  return expectation;
}

std::size_t add_expectations(const std::filesystem::path& path, const std::string& program,
                             const std::vector<vgpu::Finding>& findings, const SourceLines& lines) {
  LockedFile file(path);
  const std::string present = file.read();
  ExpectedFindings expected(lines);
  expected.set_program(program);
  expected.add(read_expectations(present, path.string()));
  std::string text;
  if (present.empty()) {
    text =
        "# Findings that are known and accepted: `warpcheck exec --expect`.  Replace each TODO by "
        "the reason.\n";
  } else if (!present.ends_with('\n')) {
    text = "\n";
  }
  std::size_t added = 0;
  for (const vgpu::Finding& finding : findings) {
    if (expected.find(finding) != nullptr) continue;
    Expectation expectation = expectation_of(finding, program, path, lines);
    text += "\n" + expectation_text(expectation);
    expectation.source = path.string();
    expected.add({std::move(expectation)});
    ++added;
  }
  if (added != 0) file.append(text);
  return added;
}

}  // namespace warpcheck
