#include "model/parser.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "model/parse_condition.hpp"
#include "model/parse_instruction.hpp"

namespace warpcheck::model {
namespace {

class TestParser {
 public:
  explicit TestParser(const LexedTest& lexed)
      : lexed_(lexed), reader_(lexed.tokens), symbols_(test_) {}

  Test run() {
    title();
    while (!reader_.at_end() && !reader_.peek().is("{")) reader_.take();  // herd's Key=value lines
    initial_state();
    threads();
    set_registers();
    code();
    parse_conditions(reader_, symbols_, test_);
    expectation();
    return std::move(test_);
  }

 private:
  void title() {
    const std::size_t space = lexed_.title.find_first_of(" \t");
    std::string architecture = lexed_.title.substr(0, space);
    for (char& c : architecture) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (architecture != "PTX") {
      throw LitmusError(lexed_.title_place,
                        fmt::format("a test of PTX, 'PTX NAME', was expected, found '{}'",
                                    lexed_.title.substr(0, 40)));
    }
    const std::size_t name =
        space == std::string::npos ? space : lexed_.title.find_first_not_of(" \t", space);
    if (name == std::string::npos) {
      throw LitmusError(lexed_.title_place, "the test's name was expected behind 'PTX'");
    }
    test_.name = lexed_.title.substr(name);
  }

  // --- initial state -----------------------------------------------------------------------------

  void initial_state() {
    reader_.expect("{");
    while (!reader_.accept("}")) {
      if (reader_.accept(";")) continue;
      if (reader_.at_end()) reader_.fail("'}' of the initial state");
      declaration();
      if (!reader_.peek().is("}")) reader_.expect(";");
    }
    reader_.accept(";");
  }

  void declaration() {
    if (reader_.peek(1).is(":") && thread_number(reader_.peek()) >= 0) return of_register();
    skip_types();
    const bool bracketed = reader_.accept("[");
    const Token& name = reader_.expect_name("a location or a register");
    if (bracketed) reader_.expect("]");
    if (reader_.accept("@")) return alias(name, proxy());
    if (reader_.accept("aliases") || (reader_.accept("physically") && reader_.accept("aliases"))) {
      return alias_of(name, Proxy::generic);
    }
    std::optional<std::int64_t> index;
    if (!bracketed && reader_.accept("[")) {
      index = reader_.expect_number("a number of elements");
      reader_.expect("]");
    }
    index ? array(name, *index) : scalar(name);
  }

  // "int x", ".global .u32 x", "uint32_t *p"
  void skip_types() {
    for (;;) {
      const bool word = reader_.peek().kind == Token::Kind::name &&
                        (reader_.peek(1).kind == Token::Kind::name || reader_.peek(1).is("*") ||
                         (reader_.peek(1).is(".") && reader_.peek(2).kind == Token::Kind::name)) &&
                        !reader_.peek(1).is("aliases") && !reader_.peek(1).is("physically");
      if (!word && !reader_.peek().is(".") && !reader_.peek().is("*")) return;
      reader_.take();
    }
  }

  Proxy proxy() {
    constexpr std::array<std::pair<std::string_view, Proxy>, 4> kProxies{
        {{"generic", Proxy::generic},
         {"texture", Proxy::texture},
         {"surface", Proxy::surface},
         {"constant", Proxy::constant}}};
    for (const auto& [name, proxy] : kProxies) {
      if (reader_.accept(name)) return proxy;
    }
    reader_.fail("'generic', 'texture', 'surface' or 'constant'");
  }

  void alias(const Token& name, Proxy proxy) {
    reader_.accept("virtually");
    reader_.expect("aliases");
    alias_of(name, proxy);
  }
  void alias_of(const Token& name, Proxy proxy) {
    const Token& of = reader_.expect_name("a location");
    if (symbols_.find(name.text) != nullptr) {
      throw LitmusError(name.place, fmt::format("a second declaration of {}", shown(name)));
    }
    symbols_.alias(name.text, of.text, proxy);
  }

  void scalar(const Token& name) {
    const NamedLocation& location = symbols_.declare(name.text);
    if (reader_.accept("=")) {
      const std::int64_t initial = value();
      symbols_.cell_at(location.address).initial = initial;
    }
  }

  // "x[2]", "x[2] = {1, 2}", "x[1] = 5" of one that is declared
  void array(const Token& name, std::int64_t index) {
    const NamedLocation* known = symbols_.find(name.text);
    if (known != nullptr && reader_.accept("=")) {
      if (index < 0 || index >= known->elements) {
        throw LitmusError(name.place,
                          fmt::format("{} has {} elements", shown(name), known->elements));
      }
      const std::int64_t address = known->address + index * kElementBytes;
      const std::int64_t initial = value();
      symbols_.cell_at(address).initial = initial;
      return;
    }
    if (known != nullptr || index < 1 || index > 64) {
      throw LitmusError(name.place,
                        fmt::format("{} was expected to have 1 to 64 elements, once", shown(name)));
    }
    const std::int64_t address = symbols_.declare(name.text, static_cast<unsigned>(index)).address;
    if (!reader_.accept("=")) return;
    reader_.expect("{");
    for (std::int64_t element = 0; !reader_.accept("}"); ++element) {
      if (element == index) reader_.fail("'}'");
      const std::int64_t initial = value();
      symbols_.cell_at(address + element * kElementBytes).initial = initial;
      if (!reader_.peek().is("}")) reader_.expect(",");
    }
  }

  // A number, or the address of a location.
  std::int64_t value() {
    if (reader_.at_number()) return reader_.expect_number("a number");
    reader_.accept("&");
    return symbols_.declare(reader_.expect_name("a number or a location").text).address;
  }

  struct InitialRegister {
    Token thread, name;
    std::int64_t value;
  };

  void of_register() {
    InitialRegister initial{reader_.take(), {}, 0};
    reader_.expect(":");
    initial.name = reader_.expect_name("a register");
    if (reader_.accept("=")) initial.value = value();
    registers_.push_back(initial);
  }
  void set_registers() {
    for (const InitialRegister& initial : registers_) {
      Thread& thread = test_.threads[thread_named(initial.thread, test_)];
      thread.initial[Symbols::register_of(thread, initial.name.text)] = initial.value;
    }
  }

  // --- the program -------------------------------------------------------------------------------

  void threads() {
    do {
      thread();
    } while (reader_.accept("|"));
    reader_.expect(";");
  }

  // P0@cta 0, gpu 0
  void thread() {
    const Token& name = reader_.peek();
    Thread thread;
    thread.place = name.place;
    const int number = thread_number(name);
    if (number < 0 || name.kind != Token::Kind::name) reader_.fail("a thread, 'P0@cta 0,gpu 0',");
    reader_.take();
    thread.number = static_cast<unsigned>(number);
    reader_.expect("@");
    bool has_cta = false;
    do {
      const Token& level = reader_.expect_name("'cta', 'cluster' or 'gpu'");
      const std::int64_t value = reader_.expect_number("a number");
      const auto place = static_cast<unsigned>(value);
      if (level.is("cta")) {
        thread.cta = place;
        has_cta = true;
      } else if (level.is("cluster")) {
        thread.cluster = place;
      } else if (level.is("gpu")) {
        thread.gpu = place;
      } else if (!level.is("sys") && !level.is("warp")) {
        throw LitmusError(
            level.place,
            fmt::format("'cta', 'cluster' or 'gpu' was expected, found {}", shown(level)));
      }
    } while (reader_.accept(","));
    if (!has_cta) throw LitmusError(name.place, fmt::format("{} is in no cta", shown(name)));
    if (std::ranges::find(test_.threads, thread.number, &Thread::number) != test_.threads.end()) {
      throw LitmusError(name.place, fmt::format("a second thread {}", shown(name)));
    }
    test_.threads.push_back(std::move(thread));
  }

  // Rows of cells, one cell for each thread.
  void code() {
    std::vector<std::vector<CodeCell>> columns(test_.threads.size());
    while (!begins_conditions(reader_)) row(columns);
    for (std::size_t thread = 0; thread < columns.size(); ++thread) {
      parse_code(columns[thread], symbols_, test_.threads[thread]);
    }
  }

  void row(std::vector<std::vector<CodeCell>>& columns) {
    std::size_t column = 0;
    CodeCell cell;
    const auto end_cell = [&] {
      if (column == columns.size()) {
        throw LitmusError(reader_.peek().place,
                          fmt::format("a row has more than {} columns", columns.size()));
      }
      const bool is_empty = cell.empty();
      cell.push_back({Token::Kind::end, "", 0, reader_.peek().place, false});
      if (!is_empty) columns[column].push_back(cell);
      cell.clear();
      ++column;
    };
    for (;;) {
      if (reader_.at_end()) reader_.fail("';' at the end of a row");
      const Token& token = reader_.peek();
      if (token.is("|") || token.is("||") || token.is(";")) {
        end_cell();
        if (token.is("||")) end_cell();  // an empty cell between two bars
        reader_.take();
        if (token.is(";")) return;
      } else {
        cell.push_back(reader_.take());
      }
    }
  }

  // "Result: Never" in a comment.
  void expectation() {
    for (const std::string& comment : lexed_.comments) {
      const std::size_t at = comment.find("Result:");
      if (at == std::string::npos) continue;
      const std::size_t begin = comment.find_first_not_of(" \t", at + 7);
      if (begin == std::string::npos) continue;
      const std::size_t end = comment.find_first_of(" \t\r\n.,;", begin);
      test_.expectation = comment.substr(begin, end == std::string::npos ? end : end - begin);
    }
  }

  const LexedTest& lexed_;
  TokenReader reader_;
  Test test_;
  Symbols symbols_;
  std::vector<InitialRegister> registers_;
};

}  // namespace

Test parse_test(std::string_view text) {
  const LexedTest lexed = lex(text);
  return TestParser(lexed).run();
}

}  // namespace warpcheck::model
