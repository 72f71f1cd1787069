#include "model/parse_instruction.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "model/operators.hpp"
#include "model/qualifiers.hpp"

namespace warpcheck::model {
namespace {

using Kind = Instruction::Kind;

struct Access {
  std::string_view mnemonic;
  Kind kind;
  Proxy proxy;
};

// Those of the generic proxy are PTX; the others have the notation of the mixed-proxy paper's tests
// (Lustig, Cooksey, Giroux, ISCA 2022).
constexpr std::array<Access, 11> kAccesses{{{"ld", Kind::load, Proxy::generic},
                                            {"tld", Kind::load, Proxy::texture},
                                            {"suld", Kind::load, Proxy::surface},
                                            {"cold", Kind::load, Proxy::constant},
                                            {"ldc", Kind::load, Proxy::constant},
                                            {"st", Kind::store, Proxy::generic},
                                            {"sust", Kind::store, Proxy::surface},
                                            {"atom", Kind::atomic, Proxy::generic},
                                            {"suatom", Kind::atomic, Proxy::surface},
                                            {"red", Kind::reduction, Proxy::generic},
                                            {"sured", Kind::reduction, Proxy::surface}}};

constexpr std::array<std::pair<std::string_view, Operator>, 6> kBranches{{{"beq", Operator::eq},
                                                                          {"bne", Operator::ne},
                                                                          {"blt", Operator::lt},
                                                                          {"ble", Operator::le},
                                                                          {"bgt", Operator::gt},
                                                                          {"bge", Operator::ge}}};

constexpr std::array<std::string_view, 15> kCalculations{"mov", "add", "sub", "mul", "div",
                                                         "rem", "and", "or",  "xor", "shl",
                                                         "shr", "min", "max", "not", "neg"};

const Access* access_named(std::string_view mnemonic) {
  const auto* found = std::ranges::find(kAccesses, mnemonic, &Access::mnemonic);
  return found == kAccesses.end() ? nullptr : found;
}

bool is_calculation(std::string_view mnemonic) {
  return mnemonic == "setp" || std::ranges::find(kCalculations, mnemonic) != kCalculations.end();
}

std::string_view name_of(Proxy proxy) {
  constexpr std::array<std::string_view, 4> kProxies{"generic", "texture", "surface", "constant"};
  return kProxies[static_cast<std::size_t>(proxy)];
}

class CodeParser {
 public:
  CodeParser(Symbols& symbols, Thread& thread) : symbols_(symbols), thread_(thread) {}

  void run(const std::vector<CodeCell>& cells) {
    // A name that some instruction writes is a register everywhere.
    for (const CodeCell& cell : cells) note_destination(cell);
    for (const CodeCell& cell : cells) parse(cell);
    for (const Jump& jump : jumps_) {
      const auto label = labels_.find(jump.label.text);
      if (label == labels_.end()) {
        throw LitmusError(jump.label.place, fmt::format("there is no label {} in P{}",
                                                        shown(jump.label), thread_.number));
      }
      thread_.code[jump.instruction].target = label->second;
    }
    for (Instruction& instruction : thread_.code) {
      if (instruction.target == kEnd) instruction.target = here();
    }
  }

 private:
  static constexpr unsigned kEnd = ~0U;
  struct Jump {
    std::size_t instruction;
    Token label;
  };

  [[nodiscard]] unsigned here() const { return static_cast<unsigned>(thread_.code.size()); }
  static bool begins_label(const TokenReader& reader) {
    return reader.peek().kind == Token::Kind::name && reader.peek(1).is(":");
  }

  void note_destination(const CodeCell& cell) {
    TokenReader reader(cell);
    while (begins_label(reader)) reader.take(), reader.take();
    if (reader.accept("@")) {
      reader.accept("!");
      reader.take();
    }
    const Token& mnemonic = reader.take();
    const Access* access = access_named(mnemonic.text);
    const bool writes = access != nullptr
                            ? access->kind == Kind::load || access->kind == Kind::atomic
                            : is_calculation(mnemonic.text);
    if (!writes) return;
    while (reader.accept(".")) reader.take();
    if (reader.peek().kind != Token::Kind::name) return;  // an error, which parse() reports
    if (symbols_.find(reader.peek().text) != nullptr && !reader.peek().is_register) {
      throw LitmusError(
          reader.peek().place,
          fmt::format("a register was expected, {} is a location", shown(reader.peek())));
    }
    Symbols::register_of(thread_, reader.peek().text);
  }

  void parse(const CodeCell& cell) {
    TokenReader reader(cell);
    while (begins_label(reader)) {
      const Token& label = reader.take();
      if (!labels_.emplace(label.text, here()).second) {
        throw LitmusError(label.place, fmt::format("a second label {}", shown(label)));
      }
      reader.expect(":");
    }
    if (reader.at_end()) return;
    const bool guarded = parse_guard(reader);
    const unsigned guard = here() - 1;
    const Token& mnemonic = reader.expect_name("an instruction");
    instruction(mnemonic, reader);
    if (!reader.at_end()) reader.fail("the end of the instruction");
    if (guarded) thread_.code[guard].target = here();
  }

  // "@p" and "@!p": a branch around the instruction.
  bool parse_guard(TokenReader& reader) {
    const Place place = reader.peek().place;
    if (!reader.accept("@")) return false;
    Instruction& branch = add(Kind::branch, place);
    branch.operation = reader.accept("!") ? Operator::ne : Operator::eq;
    branch.a = value(reader);
    branch.b = Operand::constant(0);
    return true;
  }

  Instruction& add(Kind kind, Place place) {
    Instruction& instruction = thread_.code.emplace_back();
    instruction.kind = kind;
    instruction.place = place;
    return instruction;
  }

  void instruction(const Token& mnemonic, TokenReader& reader) {
    const std::string& name = mnemonic.text;
    if (const Access* access = access_named(name)) {
      return access->kind == Kind::load    ? load(*access, mnemonic, reader)
             : access->kind == Kind::store ? store(*access, mnemonic, reader)
                                           : atomic(*access, mnemonic, reader);
    }
    for (const auto& [branch, operation] : kBranches) {
      if (name == branch) return conditional_branch(operation, mnemonic, reader);
    }
    if (name == "fence" || name == "membar") return fence(mnemonic, reader);
    if (name == "bar" || name == "barrier") return barrier(mnemonic, reader);
    if (name == "goto" || name == "bra") return jump(mnemonic, reader);
    if (name == "ret" || name == "exit") {
      add(Kind::jump, mnemonic.place).target = kEnd;
      return;
    }
    if (name == "nop") return;
    if (is_calculation(name)) return calculation(mnemonic, reader);
    throw LitmusError(mnemonic.place, fmt::format("unknown instruction {}", shown(mnemonic)));
  }

  // --- operands ----------------------------------------------------------------------------------

  void comma(TokenReader& reader) { reader.expect(","); }

  unsigned destination(TokenReader& reader) {
    return Symbols::register_of(thread_, reader.expect_name("a register").text);
  }

  bool is_register(const Token& token) const {
    if (token.is_register || Symbols::has_register(thread_, token.text)) return true;
    // r0, rd1, p2: the names of compilers and published tests.
    const std::size_t digits = token.text.find_first_of("0123456789");
    const std::string letters = token.text.substr(0, digits);
    return digits != std::string::npos && (letters == "r" || letters == "rd" || letters == "p") &&
           symbols_.find(token.text) == nullptr;
  }

  // A number, a register, or the address of a location.
  Operand value(TokenReader& reader) {
    if (reader.at_number()) return Operand::constant(reader.expect_number("a number"));
    const bool address = reader.accept("&");
    const Token& name = reader.expect_name("a number or a register");
    const NamedLocation* location = symbols_.find(name.text);
    if (!name.is_register && location != nullptr) return Operand::constant(location->address);
    if (!address && is_register(name)) {
      return Operand::of_register(Symbols::register_of(thread_, name.text));
    }
    throw LitmusError(name.place, fmt::format("{} is neither a register of P{} nor a location",
                                              shown(name), thread_.number));
  }

  // x, [x], [x+4], x[1], x[r1], r1, [r1], [r1+4]
  AddressOperand address(TokenReader& reader, Proxy proxy) {
    const bool bracketed = reader.accept("[");
    const Token& name = reader.expect_name("a location");
    AddressOperand operand;
    if (is_register(name)) {
      operand.index = Operand::of_register(Symbols::register_of(thread_, name.text));
    } else {
      const NamedLocation& location = symbols_.declare(name.text);
      if (location.proxy != Proxy::generic && location.proxy != proxy) {
        throw LitmusError(name.place,
                          fmt::format("{} is accessed through the {} proxy, not the {} proxy",
                                      shown(name), name_of(location.proxy), name_of(proxy)));
      }
      operand.base = location.address;
      if (reader.accept("[")) {
        operand.index = value(reader);
        operand.scale = kElementBytes;
        reader.expect("]");
      }
    }
    if (bracketed && (reader.peek().is("+") || reader.peek().is("-"))) {
      if (reader.peek().is("+")) reader.take();
      operand.base += reader.expect_number("an offset in bytes");
    }
    if (bracketed) reader.expect("]");
    if (operand.index.kind == Operand::Kind::constant) {
      operand.base += operand.index.value * operand.scale;
      operand.index = {};
    }
    return operand;
  }

  // --- accesses ----------------------------------------------------------------------------------

  Qualifiers access_qualifiers(const Token& mnemonic, TokenReader& reader,
                               std::initializer_list<Order> orders) {
    Qualifiers qualifiers = parse_qualifiers(reader, mnemonic.text, false);
    if (qualifiers.order && std::ranges::find(orders, *qualifiers.order) == orders.end()) {
      throw LitmusError(qualifiers.place,
                        fmt::format("{} has no such order of memory", shown(mnemonic)));
    }
    return qualifiers;
  }

  Instruction& access(const Access& row, const Token& mnemonic, const Qualifiers& qualifiers) {
    Instruction& made = add(row.kind, mnemonic.place);
    made.proxy = qualifiers.is_constant ? Proxy::constant : row.proxy;
    made.order = qualifiers.order.value_or(Order::weak);
    if (made.order != Order::weak && !qualifiers.scope) {
      throw LitmusError(
          qualifiers.place,
          fmt::format("a scope was expected: .cta, .cluster, .gpu or .sys of {}", shown(mnemonic)));
    }
    made.scope = qualifiers.scope.value_or(Scope::sys);
    made.type = qualifiers.type.value_or(ValueType{});
    return made;
  }

  void load(const Access& row, const Token& mnemonic, TokenReader& reader) {
    const Qualifiers qualifiers =
        access_qualifiers(mnemonic, reader, {Order::weak, Order::relaxed, Order::acquire});
    const unsigned into = destination(reader);
    comma(reader);
    // Some published tests write mov as "ld r0, 1" and "ld r0, r1".
    if (reader.at_number()) {
      Instruction& made = add(Kind::calculate, mnemonic.place);
      made.destination = into;
      made.a = value(reader);
      return;
    }
    Instruction& made = access(row, mnemonic, qualifiers);
    made.destination = into;
    made.address = address(reader, made.proxy);
  }

  void store(const Access& row, const Token& mnemonic, TokenReader& reader) {
    const Qualifiers qualifiers =
        access_qualifiers(mnemonic, reader, {Order::weak, Order::relaxed, Order::release});
    Instruction& made = access(row, mnemonic, qualifiers);
    made.address = address(reader, made.proxy);
    comma(reader);
    made.a = value(reader);
  }

  // Without an order, atomics are relaxed, and without a scope, they have device scope (PTX ISA
  // 9.7.13.6).
  void atomic(const Access& row, const Token& mnemonic, TokenReader& reader) {
    Qualifiers qualifiers = access_qualifiers(
        mnemonic, reader, {Order::relaxed, Order::acquire, Order::release, Order::acq_rel});
    qualifiers.order = qualifiers.order.value_or(Order::relaxed);
    qualifiers.scope = qualifiers.scope.value_or(Scope::gpu);
    if (!qualifiers.operation || *qualifiers.operation >= Operator::eq ||
        *qualifiers.operation == Operator::copy) {
      throw LitmusError(
          qualifiers.place,
          fmt::format("an operation of {} was expected: .add, .exch, .cas ...", shown(mnemonic)));
    }
    Instruction& made = access(row, mnemonic, qualifiers);
    made.operation = *qualifiers.operation;
    if (row.kind == Kind::atomic) {
      made.destination = destination(reader);
      comma(reader);
    }
    made.address = address(reader, made.proxy);
    comma(reader);
    made.a = value(reader);
    if (made.operation != Operator::cas) return;
    comma(reader);
    made.b = value(reader);
  }

  // --- fences and barriers -----------------------------------------------------------------------

  // fence{.sem}.scope, fence.proxy.kind, membar.level
  void fence(const Token& mnemonic, TokenReader& reader) {
    if (reader.peek(1).is("proxy") || reader.peek(1).is("alias")) {
      return proxy_fence(mnemonic, reader);
    }
    const Qualifiers qualifiers = access_qualifiers(
        mnemonic, reader, {Order::acquire, Order::release, Order::acq_rel, Order::sc});
    Instruction& made = add(Kind::fence, mnemonic.place);
    made.order = mnemonic.is("membar") ? Order::sc : qualifiers.order.value_or(Order::acq_rel);
    if (!qualifiers.scope) {
      throw LitmusError(qualifiers.place, fmt::format("a scope of {} was expected: .cta, "
                                                      ".cluster, .gpu or .sys",
                                                      shown(mnemonic)));
    }
    made.scope = *qualifiers.scope;
  }

  void proxy_fence(const Token& mnemonic, TokenReader& reader) {
    const Qualifiers qualifiers = parse_qualifiers(reader, mnemonic.text, true);
    const std::string& kind = qualifiers.words.back();
    if (kind == "alias" && qualifiers.words.size() <= 2) {
      add(Kind::alias_fence, mnemonic.place);
      return;
    }
    for (const Proxy proxy : {Proxy::generic, Proxy::texture, Proxy::surface, Proxy::constant}) {
      if (kind != name_of(proxy) || qualifiers.words.size() != 2) continue;
      add(Kind::proxy_fence, mnemonic.place).proxy = proxy;
      return;
    }
    throw LitmusError(qualifiers.place, fmt::format("'.{}' of a proxy fence is not known", kind));
  }

  void barrier(const Token& mnemonic, TokenReader& reader) {
    const Qualifiers qualifiers = parse_qualifiers(reader, mnemonic.text, true);
    const bool of_cluster = qualifiers.has("cluster");
    Kind kind = Kind::barrier_sync;
    for (const std::string& word : qualifiers.words) {
      if (word == "arrive") {
        kind = of_cluster ? Kind::cluster_arrive : Kind::barrier_arrive;
      } else if (word == "wait" && of_cluster) {
        kind = Kind::cluster_wait;
      } else if (word != "cta" && word != "cluster" && !(word == "sync" && !of_cluster) &&
                 !(of_cluster && (word == "acquire" || word == "release" || word == "relaxed"))) {
        throw LitmusError(qualifiers.place,
                          fmt::format("'.{}' of {} is not known", word, shown(mnemonic)));
      }
    }
    if (!of_cluster && !qualifiers.has("sync") && !qualifiers.has("arrive")) {
      throw LitmusError(qualifiers.place, "'.sync' or '.arrive' was expected");
    }
    Instruction& made = add(kind, mnemonic.place);
    made.order = qualifiers.has("relaxed") ? Order::relaxed : Order::release;
    if (!of_cluster) barrier_operands(made, reader);
  }

  // "id"; "id, threads" with threads a multiple of 32 as in PTX (each thread of a test represents a
  // warp); or the notation of published tests: "instance, id" and "instance, id, arrivals".
  void barrier_operands(Instruction& made, TokenReader& reader) {
    made.a = value(reader);
    if (!reader.accept(",")) return;
    const Operand second = value(reader);
    if (reader.accept(",")) {
      made.b = second;
      made.arrivals = value(reader);
    } else if (second.kind == Operand::Kind::constant && second.value > 0 &&
               second.value % 32 == 0) {
      made.arrivals = Operand::constant(second.value / 32);
    } else {
      made.b = second;
    }
  }

  // --- the rest ----------------------------------------------------------------------------------

  void jump_to(TokenReader& reader) {
    jumps_.push_back({thread_.code.size() - 1, reader.expect_name("a label")});
  }

  void jump(const Token& mnemonic, TokenReader& reader) {
    parse_qualifiers(reader, mnemonic.text, false);
    add(Kind::jump, mnemonic.place);
    jump_to(reader);
  }

  void conditional_branch(Operator operation, const Token& mnemonic, TokenReader& reader) {
    Instruction& made = add(Kind::branch, mnemonic.place);
    made.operation = operation;
    made.a = value(reader);
    comma(reader);
    made.b = value(reader);
    comma(reader);
    jump_to(reader);
  }

  void calculation(const Token& mnemonic, TokenReader& reader) {
    const Qualifiers qualifiers = parse_qualifiers(reader, mnemonic.text, false);
    const std::string& name = mnemonic.text;
    Instruction& made = add(Kind::calculate, mnemonic.place);
    made.type = qualifiers.type.value_or(ValueType{});
    made.destination = destination(reader);
    comma(reader);
    made.a = value(reader);
    if (name == "mov") return;
    if (name == "neg") {
      made.b = std::exchange(made.a, Operand::constant(0));
      made.operation = Operator::sub;
    } else if (name == "not") {
      made.b = Operand::constant(-1);
      made.operation = Operator::bit_xor;
    } else {
      comma(reader);
      made.b = value(reader);
      if (name == "setp" && (!qualifiers.operation || *qualifiers.operation < Operator::eq)) {
        throw LitmusError(qualifiers.place, "a comparison of setp was expected: .eq, .ne ...");
      }
      made.operation = name == "setp" ? *qualifiers.operation : *operator_named(name);
    }
  }

  Symbols& symbols_;
  Thread& thread_;
  std::map<std::string, unsigned> labels_;
  std::vector<Jump> jumps_;
};

}  // namespace

void parse_code(const std::vector<CodeCell>& cells, Symbols& symbols, Thread& thread) {
  CodeParser(symbols, thread).run(cells);
}

}  // namespace warpcheck::model
