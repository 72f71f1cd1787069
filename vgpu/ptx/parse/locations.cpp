#include "vgpu/ptx/parse/locations.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace warpcheck::ptx {
namespace {

std::uint32_t read_number(Lexer& lexer, std::string_view what) {
  if (lexer.peek().kind != Token::Kind::integer) lexer.expected(what);
  const Token token = lexer.take();
  if (token.bits > std::numeric_limits<std::uint32_t>::max()) {
    lexer.fail(token.line, "a number of a source location is too large");
  }
  return static_cast<std::uint32_t>(token.bits);
}

}  // namespace

LocationReader::Place LocationReader::read_place() {
  const std::uint32_t file = read_number(context_.lexer, "a file number");
  const std::uint32_t line = read_number(context_.lexer, "a line number");
  return {file, line, read_number(context_.lexer, "a column number")};
}

SourceLocation LocationReader::read() {
  Lexer& lexer = context_.lexer;
  const Place place = read_place();
  SourceLocation out{std::get<0>(place), std::get<1>(place), std::get<2>(place), kNone, kNone};
  while (lexer.accept(',')) {
    const std::string_view word = lexer.expect_identifier("'function_name' or 'inlined_at'");
    if (word == "function_name") {
      const std::string_view label = lexer.expect_identifier("a label");
      const std::uint32_t offset = lexer.accept('+') ? read_number(lexer, "a number") : 0;
      out.function = context_.function_names.index_of(label, offset);
    } else if (word == "inlined_at") {
      const Place call = read_place();
      const auto [file, line, column] = call;
      const Caller caller = chain_of(call);
      out.inlined_at = intern({file, line, column, caller.inlined_at, caller.function});
    } else {
      lexer.fail("expected 'function_name' or 'inlined_at'");
    }
  }
  std::vector<Caller>& chains = chains_[place];
  const Caller caller{out.inlined_at, out.function};
  std::erase(chains, caller);
  chains.push_back(caller);
  callers_ = with_callers(out);
  return out;
}

LocationReader::Caller LocationReader::chain_of(const Place& place) const {
  const auto chains = chains_.find(place);
  if (chains == chains_.end()) return {};
  const auto calls_previous = [&](std::uint32_t location) {
    return std::find(callers_.begin(), callers_.end(), location) != callers_.end();
  };
  Caller best = chains->second.back();
  std::size_t best_shared = 0;
  for (auto chain = chains->second.rbegin(); chain != chains->second.rend(); ++chain) {
    std::uint32_t at = chain->inlined_at;
    while (at != kNone && !calls_previous(at)) at = context_.module.locations[at].inlined_at;
    std::size_t shared = 0;
    const bool whole = at == chain->inlined_at;
    for (; at != kNone; at = context_.module.locations[at].inlined_at) ++shared;
    if (shared > best_shared) best = *chain, best_shared = shared;
    if (whole) break;
  }
  return best;
}

std::vector<std::uint32_t> LocationReader::with_callers(const SourceLocation& location) const {
  std::vector<std::uint32_t> out;
  const Place place{location.file, location.line, location.column};
  const auto self = interned_.find({place, {location.inlined_at, location.function}});
  if (self != interned_.end()) out.push_back(self->second);
  for (std::uint32_t at = location.inlined_at; at != kNone;
       at = context_.module.locations[at].inlined_at) {
    out.push_back(at);
  }
  return out;
}

std::uint32_t LocationReader::intern(const SourceLocation& location) {
  const Place place{location.file, location.line, location.column};
  std::vector<SourceLocation>& all = context_.module.locations;
  const auto [at, is_new] = interned_.try_emplace({place, {location.inlined_at, location.function}},
                                                  static_cast<std::uint32_t>(all.size()));
  if (is_new) all.push_back(location);
  return at->second;
}

void note_files(Context& context, std::string_view body, std::string_view function) {
  constexpr std::string_view kDirective = ".loc", kBlanks = " \t", kName = "function_name";
  std::uint32_t noted = kNone;
  for (std::size_t at = body.find(kDirective); at != std::string_view::npos;
       at = body.find(kDirective, at)) {
    std::string_view rest = body.substr(at + kDirective.size());
    at += kDirective.size();
    rest = rest.substr(0, rest.find('\n'));
    const std::size_t number = rest.find_first_not_of(kBlanks);
    if (number == 0 || number == std::string_view::npos) continue;  // .local
    std::uint32_t file = 0;
    if (std::from_chars(rest.data() + number, rest.data() + rest.size(), file).ec != std::errc{}) {
      continue;
    }
    const std::size_t name = rest.find(kName);
    if (name != std::string_view::npos) {
      std::string_view label = rest.substr(name + kName.size());
      label.remove_prefix(std::min(label.find_first_not_of(kBlanks), label.size()));
      const std::size_t end = std::min(label.find_first_of(" \t,+"), label.size());
      const std::size_t next = label.find_first_not_of(kBlanks, end);
      if (next == std::string_view::npos || label[next] != '+') {
        context.functions_of_files.add_label(file, label.substr(0, end));
      }
    }
    if (file != noted && rest.find("inlined_at") == std::string_view::npos) {
      context.functions_of_files.add(file, function);
      noted = file;
    }
  }
}

}  // namespace warpcheck::ptx
