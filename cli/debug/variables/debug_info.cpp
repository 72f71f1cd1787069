#include "cli/debug/variables/debug_info.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "vgpu/ptx/demangle.hpp"
#include "vgpu/ptx/text_parts.hpp"

namespace warpcheck::debug {
namespace {

using Kind = Type::Kind;
using ptx::Space;

struct CloseElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct EndDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

// The numbers that nvcc gives to state spaces in DW_AT_address_class.
Space space_of_class(Dwarf_Word number) {
  switch (number) {
    case 4: return Space::constant;
    case 5: return Space::global;
    case 6: return Space::local;
    case 7: return Space::param;
    case 8: return Space::shared;
    default: return Space::generic;
  }
}

std::optional<Dwarf_Attribute> attribute(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute found;
  if (dwarf_attr_integrate(&die, name, &found) == nullptr) return std::nullopt;
  return found;
}

std::optional<Dwarf_Word> number_of(Dwarf_Die& die, unsigned name) {
  std::optional<Dwarf_Attribute> found = attribute(die, name);
  Dwarf_Word number = 0;
  if (!found || dwarf_formudata(&*found, &number) != 0) return std::nullopt;
  return number;
}

std::string text_of(Dwarf_Die& die, unsigned name) {
  std::optional<Dwarf_Attribute> found = attribute(die, name);
  const char* const text = found ? dwarf_formstring(&*found) : nullptr;
  return text == nullptr ? std::string() : text;
}

// nvcc writes names inside of namespaces and classes mangled, and puts what is local to the
// translation unit into a namespace of its own.
std::string readable(std::string name) {
  // A class with virtual functions, as the base of another one.
  constexpr std::string_view kSubobject = "__SO__";
  if (name.starts_with(kSubobject)) name = "_Z" + name.substr(kSubobject.size());
  if (!name.starts_with("_Z")) return name;
  return ptx::demangle(name).value_or(name);
}

std::string linkage_name_of(Dwarf_Die& die) {
  std::string name = text_of(die, DW_AT_MIPS_linkage_name);
  return name.empty() ? text_of(die, DW_AT_linkage_name) : name;
}

// The number of a register is its name in ASCII, the first character in the highest byte.
std::string register_of(Dwarf_Word number) {
  std::string name;
  for (int shift = 56; shift >= 0; shift -= 8) {
    const auto c = static_cast<char>(number >> shift);
    if (c != 0) name += c;
  }
  return name;
}

}  // namespace

class DebugInfo::Reader {
 public:
  Reader(const ptx::TextPart& part, std::string_view name)
      : name_(name),
        lines_before_(part.lines_before),
        image_(assemble_debug_sections(part.text, name)) {
    if (!has_info()) return;
    elf_.reset(elf_memory(reinterpret_cast<char*>(image_.elf.data()), image_.elf.size()));
    dwarf_.reset(elf_ ? dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr) : nullptr);
    if (!dwarf_) fail();
    read_units();
  }

  [[nodiscard]] bool has_info() const { return !image_.elf.empty(); }
  std::vector<Scope> scopes_at(std::uint32_t ptx_line);
  // Adds the calls that are inlined.
  void add_inlined(std::vector<InlinedCode>& all);
  const std::vector<Variable>& globals() { return globals_; }
  const Type* find_type(std::string_view name);
  FoundEnumerator find_enumerator(std::string_view name);

 private:
  struct Function {
    Dwarf_Addr low = 0, high = 0;
    Dwarf_Off die = 0;
  };

  [[noreturn]] void fail() const {
    throw DebugInfoError(fmt::format("{}: the debug information is damaged: {}", name_,
                                     dwarf_errmsg(-1) == nullptr ? "unknown" : dwarf_errmsg(-1)));
  }
  template <typename Use>
  void for_children(Dwarf_Die& die, const Use& use);
  void read_units();
  void read_outer(Dwarf_Die& die);
  void read_statics(Dwarf_Die& die);
  void collect_inlined(Dwarf_Die& die, std::vector<InlinedCode>& all);
  void collect_scopes(Dwarf_Die& die, Dwarf_Addr address, std::vector<Scope>& scopes);
  Scope scope_of(Dwarf_Die& die) const;
  Variable variable_of(Dwarf_Die& die, Dwarf_Addr address);
  Location location_of(Dwarf_Die& die, Dwarf_Addr address) const;
  Location evaluated(const Dwarf_Op* operations, std::size_t count, Space space) const;
  Dwarf_Die die_at(Dwarf_Off offset) const;

  const Type* type_of(Dwarf_Die& die);  // of what has DW_AT_type
  const Type* converted(Dwarf_Die& die);
  void fill(Type& type, Dwarf_Die& die);
  void fill_members(Type& type, Dwarf_Die& die);
  void fill_array(Type& type, Dwarf_Die& die);
  std::string signature_of(Dwarf_Die& die);
  Member member_of(Dwarf_Die& die);
  Type& new_type(Kind kind, std::string name);

  std::string name_;
  std::uint32_t lines_before_;  // what the image has as addresses are lines of the part
  DebugImage image_;
  std::unique_ptr<Elf, CloseElf> elf_;
  std::unique_ptr<Dwarf, EndDwarf> dwarf_;
  std::vector<Function> functions_;
  std::vector<Variable> globals_;
  std::map<std::string, Dwarf_Off, std::less<>> type_names_;
  std::vector<Dwarf_Off> enumerations_;
  std::deque<Type> types_;
  std::map<Dwarf_Off, const Type*> known_types_;
  const Type* void_ = &new_type(Kind::void_, "void");
  const Type* unknown_ = &new_type(Kind::unknown, "?");
};

template <typename Use>
void DebugInfo::Reader::for_children(Dwarf_Die& die, const Use& use) {
  Dwarf_Die child;
  int result = dwarf_child(&die, &child);
  while (result == 0) {
    use(child);
    Dwarf_Die next;
    result = dwarf_siblingof(&child, &next);
    child = next;
  }
  if (result < 0) fail();
}

void DebugInfo::Reader::read_units() {
  Dwarf_Off offset = 0, next = 0;
  std::size_t header_bytes = 0;
  int result = 0;
  while ((result = dwarf_nextcu(dwarf_.get(), offset, &next, &header_bytes, nullptr, nullptr,
                                nullptr)) == 0) {
    Dwarf_Die unit = die_at(offset + header_bytes);
    for_children(unit, [&](Dwarf_Die& die) { read_outer(die); });
    offset = next;
  }
  if (result < 0) fail();
}

// A declaration outside functions.
void DebugInfo::Reader::read_outer(Dwarf_Die& die) {
  switch (dwarf_tag(&die)) {
    case DW_TAG_namespace: for_children(die, [&](Dwarf_Die& inner) { read_outer(inner); }); break;
    case DW_TAG_variable: globals_.push_back(variable_of(die, 0)); break;
    case DW_TAG_subprogram: {
      Function function{0, 0, dwarf_dieoffset(&die)};
      const bool has_code =
          dwarf_lowpc(&die, &function.low) == 0 && dwarf_highpc(&die, &function.high) == 0;
      if (!has_code) break;
      functions_.push_back(function);
      read_statics(die);
      break;
    }
    case DW_TAG_enumeration_type: enumerations_.push_back(dwarf_dieoffset(&die)); [[fallthrough]];
    case DW_TAG_base_type:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_typedef: {
      const std::string name = readable(text_of(die, DW_AT_name));
      if (!name.empty()) type_names_.emplace(name, dwarf_dieoffset(&die));
      break;
    }
    default: break;
  }
}

// Variables inside of a function whose place is the same everywhere: shared and static ones.
void DebugInfo::Reader::read_statics(Dwarf_Die& die) {
  for_children(die, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) read_statics(child);
    if (tag == DW_TAG_variable && !linkage_name_of(child).empty()) {
      globals_.push_back(variable_of(child, 0));
    }
  });
}

Dwarf_Die DebugInfo::Reader::die_at(Dwarf_Off offset) const {
  Dwarf_Die die;
  if (dwarf_offdie(dwarf_.get(), offset, &die) == nullptr) fail();
  return die;
}

std::vector<Scope> DebugInfo::Reader::scopes_at(std::uint32_t ptx_line) {
  std::vector<Scope> scopes;
  if (ptx_line < lines_before_) return scopes;
  const std::uint32_t line = ptx_line - lines_before_;
  const auto function = std::ranges::find_if(
      functions_, [&](const Function& each) { return each.low <= line && line < each.high; });
  if (function == functions_.end()) return scopes;
  Dwarf_Die die = die_at(function->die);
  collect_scopes(die, line, scopes);
  return scopes;
}

void DebugInfo::Reader::add_inlined(std::vector<InlinedCode>& all) {
  for (const Function& function : functions_) {
    Dwarf_Die die = die_at(function.die);
    collect_inlined(die, all);
  }
}

void DebugInfo::Reader::collect_inlined(Dwarf_Die& die, std::vector<InlinedCode>& all) {
  for_children(die, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_lexical_block && tag != DW_TAG_inlined_subroutine) return;
    if (tag == DW_TAG_inlined_subroutine) {
      Scope scope = scope_of(child);
      const std::string& name = scope.linkage_name.empty() ? scope.function : scope.linkage_name;
      Dwarf_Addr base = 0, low = 0, high = 0;
      for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&child, at, &base, &low, &high)) > 0;) {
        all.push_back({static_cast<std::uint32_t>(low) + lines_before_,
                       static_cast<std::uint32_t>(high) + lines_before_, name, scope.call_file,
                       scope.call_line});
      }
    }
    collect_inlined(child, all);
  });
}

// Adds the scope, after those inside of it.
void DebugInfo::Reader::collect_scopes(Dwarf_Die& die, Dwarf_Addr address,
                                       std::vector<Scope>& scopes) {
  Scope scope = scope_of(die);
  for_children(die, [&](Dwarf_Die& child) {
    switch (dwarf_tag(&child)) {
      case DW_TAG_variable:
      case DW_TAG_formal_parameter: scope.variables.push_back(variable_of(child, address)); break;
      case DW_TAG_lexical_block:
      case DW_TAG_inlined_subroutine:
        if (dwarf_haspc(&child, address) > 0) collect_scopes(child, address, scopes);
        break;
      default: break;
    }
  });
  scopes.push_back(std::move(scope));
}

Scope DebugInfo::Reader::scope_of(Dwarf_Die& die) const {
  Scope scope;
  const int tag = dwarf_tag(&die);
  if (tag == DW_TAG_lexical_block) return scope;
  scope.kind = tag == DW_TAG_subprogram ? Scope::Kind::function : Scope::Kind::inlined;
  scope.linkage_name = linkage_name_of(die);
  scope.function = readable(text_of(die, DW_AT_name));
  scope.call_line = static_cast<std::uint32_t>(number_of(die, DW_AT_call_line).value_or(0));
  const Dwarf_Word file = number_of(die, DW_AT_call_file).value_or(0);
  if (scope.kind == Scope::Kind::inlined && file < image_.files.size()) {
    scope.call_file = image_.files[file];
  }
  return scope;
}

Variable DebugInfo::Reader::variable_of(Dwarf_Die& die, Dwarf_Addr address) {
  Variable variable;
  variable.name = readable(text_of(die, DW_AT_name));
  variable.linkage_name = linkage_name_of(die);
  variable.is_parameter = dwarf_tag(&die) == DW_TAG_formal_parameter;
  variable.line = static_cast<std::uint32_t>(number_of(die, DW_AT_decl_line).value_or(0));
  variable.type = type_of(die);
  variable.location = location_of(die, address);
  return variable;
}

Location DebugInfo::Reader::location_of(Dwarf_Die& die, Dwarf_Addr address) const {
  Location absent;
  absent.reason = "the compiler has removed it";
  std::optional<Dwarf_Attribute> place = attribute(die, DW_AT_location);
  if (!place) {
    const std::optional<Dwarf_Word> number = number_of(die, DW_AT_const_value);
    if (!number) return absent;
    Location constant;
    constant.kind = Location::Kind::constant;
    for (unsigned i = 0; i < 8; ++i) {
      constant.bytes.push_back(static_cast<std::byte>(*number >> (8 * i)));
    }
    return constant;
  }
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  const int found = dwarf_getlocation_addr(&*place, address, &operations, &count, 1);
  if (found < 0) fail();
  if (found == 0) absent.reason = "the compiler keeps it nowhere at this place";
  if (found == 0 || count == 0) return absent;
  return evaluated(operations, count,
                   space_of_class(number_of(die, DW_AT_address_class).value_or(0)));
}

// DW_OP_regx, or DW_OP_addr with something added.
Location DebugInfo::Reader::evaluated(const Dwarf_Op* operations, std::size_t count,
                                      Space space) const {
  Location location;
  for (std::size_t i = 0; i < count; ++i) {
    const Dwarf_Op& operation = operations[i];
    if (operation.atom == DW_OP_regx && count == 1) {
      location.kind = Location::Kind::in_register;
      location.register_name = register_of(operation.number);
    } else if (operation.atom == DW_OP_addr && i == 0) {
      const std::optional<DebugImage::SymbolPlace> place = image_.symbol_at(operation.number);
      location.kind = Location::Kind::in_memory;
      location.space = space;
      location.symbol = place ? place->name : std::string();
      location.offset = place ? place->offset : operation.number;
    } else if (operation.atom == DW_OP_plus_uconst && i != 0) {
      location.offset += operation.number;
    } else {
      location = {};
      location.reason = fmt::format("its location has the DWARF operation 0x{:x}, which is unknown",
                                    operation.atom);
      return location;
    }
  }
  return location;
}

Type& DebugInfo::Reader::new_type(Kind kind, std::string name) {
  Type& type = types_.emplace_back();
  type.kind = kind;
  type.name = std::move(name);
  return type;
}

const Type* DebugInfo::Reader::find_type(std::string_view name) {
  auto known = type_names_.find(name);
  // nvcc describes a structure without its namespace.
  const std::size_t scope = name.rfind("::");
  if (known == type_names_.end() && scope != std::string_view::npos) {
    known = type_names_.find(name.substr(scope + 2));
  }
  if (known == type_names_.end()) return nullptr;
  Dwarf_Die die = die_at(known->second);
  return converted(die);
}

DebugInfo::FoundEnumerator DebugInfo::Reader::find_enumerator(std::string_view name) {
  // By its last part, as an enumerator of a function has the function's name before it.
  FoundEnumerator by_last_part;
  for (const Dwarf_Off offset : enumerations_) {
    Dwarf_Die die = die_at(offset);
    const Type* const type = converted(die);
    for (const Enumerator& each : type->enumerators) {
      if (each.name == name) return {type, each.value};
      if (each.name.ends_with("::" + std::string(name))) by_last_part = {type, each.value};
    }
  }
  return by_last_part;
}

const Type* DebugInfo::Reader::type_of(Dwarf_Die& die) {
  std::optional<Dwarf_Attribute> reference = attribute(die, DW_AT_type);
  if (!reference) return void_;
  Dwarf_Die type;
  if (dwarf_formref_die(&*reference, &type) == nullptr) fail();
  return converted(type);
}

const Type* DebugInfo::Reader::converted(Dwarf_Die& die) {
  const auto [at, is_new] = known_types_.try_emplace(dwarf_dieoffset(&die), nullptr);
  if (!is_new) return at->second;
  Type& type = new_type(Kind::unknown, readable(text_of(die, DW_AT_name)));
  at->second = &type;  // known before its members are, which may point back at it
  type.bytes = number_of(die, DW_AT_byte_size).value_or(0);
  fill(type, die);
  return &type;
}

void DebugInfo::Reader::fill(Type& type, Dwarf_Die& die) {
  const auto qualify = [&](std::string_view word) {
    type.kind = Kind::alias;
    type.target = type_of(die);
    type.bytes = type.target->bytes;
    const bool is_pointer = stripped(type.target).kind == Kind::pointer;
    type.name = is_pointer ? fmt::format("{} {}", type.target->name, word)
                           : fmt::format("{} {}", word, type.target->name);
  };
  switch (dwarf_tag(&die)) {
    case DW_TAG_base_type: {
      const Dwarf_Word encoding = number_of(die, DW_AT_encoding).value_or(0);
      type.is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
      const bool is_character = encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char;
      type.kind = encoding == DW_ATE_boolean                      ? Kind::boolean
                  : encoding == DW_ATE_float                      ? Kind::floating
                  : is_character                                  ? Kind::character
                  : type.is_signed || encoding == DW_ATE_unsigned ? Kind::integer
                                                                  : Kind::unknown;
      break;
    }
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type: {
      const bool is_pointer = dwarf_tag(&die) == DW_TAG_pointer_type;
      type.kind = is_pointer ? Kind::pointer : Kind::reference;
      type.bytes = 8;
      type.space = space_of_class(number_of(die, DW_AT_address_class).value_or(0));
      type.target = type_of(die);
      type.name = is_pointer ? pointer_name(*type.target, type.space) : type.target->name + "&";
      break;
    }
    case DW_TAG_structure_type:
    case DW_TAG_class_type: fill_members(type, die); break;
    case DW_TAG_union_type:
      fill_members(type, die);
      type.kind = Kind::union_;
      break;
    case DW_TAG_enumeration_type: {
      type.kind = Kind::enumeration;
      for_children(die, [&](Dwarf_Die& child) {
        std::optional<Dwarf_Attribute> value = attribute(child, DW_AT_const_value);
        Dwarf_Sword number = 0;
        if (!value || dwarf_formsdata(&*value, &number) != 0) return;
        type.is_signed |= number < 0 && dwarf_whatform(&*value) == DW_FORM_sdata;
        type.enumerators.push_back({readable(text_of(child, DW_AT_name)), number});
      });
      break;
    }
    case DW_TAG_array_type: fill_array(type, die); break;
    case DW_TAG_const_type: qualify("const"); break;
    case DW_TAG_volatile_type: qualify("volatile"); break;
    case DW_TAG_restrict_type: qualify("restrict"); break;
    case DW_TAG_typedef:
      type.kind = Kind::alias;
      type.target = type_of(die);
      type.bytes = type.target->bytes;
      break;
    case DW_TAG_subroutine_type:
      type.kind = Kind::function;
      type.name = signature_of(die);
      break;
    case DW_TAG_unspecified_type: type.kind = Kind::void_; break;
    default: break;
  }
}

void DebugInfo::Reader::fill_members(Type& type, Dwarf_Die& die) {
  if (type.bytes == 2 && (type.name == "__half" || type.name == "__nv_bfloat16")) {
    type.kind = type.name == "__half" ? Kind::floating : Kind::brain;
    return;
  }
  type.kind = Kind::structure;
  if (type.name.empty()) type.name = "(anonymous)";
  for_children(die, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_member || tag == DW_TAG_inheritance) type.members.push_back(member_of(child));
  });
}

// "int (float*, int)"
std::string DebugInfo::Reader::signature_of(Dwarf_Die& die) {
  std::string parameters;
  for_children(die, [&](Dwarf_Die& child) {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter) return;
    parameters += (parameters.empty() ? "" : ", ") + type_of(child)->name;
  });
  return fmt::format("{} ({})", type_of(die)->name, parameters);
}

Member DebugInfo::Reader::member_of(Dwarf_Die& die) {
  Member member;
  member.name = text_of(die, DW_AT_name);
  member.type = type_of(die);
  member.is_base = dwarf_tag(&die) == DW_TAG_inheritance;
  // nvcc describes a base as a member with a name of its own.
  constexpr std::string_view kBase = "__b_";
  if (member.name.starts_with(kBase)) {
    member.is_base = true;
    member.name = readable("_Z" + member.name.substr(kBase.size()));
  }
  if (member.is_base && !member.type->name.empty()) member.name = member.type->name;
  std::optional<Dwarf_Attribute> place = attribute(die, DW_AT_data_member_location);
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  Dwarf_Word offset = 0;
  if (place && dwarf_formudata(&*place, &offset) == 0) {
    member.offset = offset;
  } else if (place && dwarf_getlocation(&*place, &operations, &count) == 0 && count == 1 &&
             operations[0].atom == DW_OP_plus_uconst) {
    member.offset = operations[0].number;
  } else if (place) {
    fail();
  }
  const Dwarf_Word bits = number_of(die, DW_AT_bit_size).value_or(0);
  if (bits != 0) {
    // DWARF 2 counts from the most significant bit of the number.
    const Dwarf_Word whole = 8 * number_of(die, DW_AT_byte_size).value_or(member.type->bytes);
    const Dwarf_Word from_top = number_of(die, DW_AT_bit_offset).value_or(0);
    if (from_top + bits > whole || whole > 64) fail();
    member.bit_count = static_cast<std::uint8_t>(bits);
    member.first_bit = static_cast<std::uint8_t>(whole - from_top - bits);
  }
  return member;
}

// An array of several dimensions is one description with several ranges.
void DebugInfo::Reader::fill_array(Type& type, Dwarf_Die& die) {
  std::vector<std::uint64_t> counts;
  for_children(die, [&](Dwarf_Die& child) {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) return;
    const std::optional<Dwarf_Word> last = number_of(child, DW_AT_upper_bound);
    counts.push_back(number_of(child, DW_AT_count).value_or(last ? *last + 1 : 0));
  });
  const Type* element = type_of(die);
  const auto make = [&](Type& array, std::uint64_t count) {
    array.kind = Kind::array;
    array.target = element;
    array.count = count;
    array.bytes = element->bytes * count;
    array.name = array_name(*element, count);
  };
  if (counts.empty()) counts.push_back(0);
  for (std::size_t i = counts.size() - 1; i > 0; --i) {
    Type& inner = new_type(Kind::array, "");
    make(inner, counts[i]);
    element = &inner;
  }
  make(type, counts[0]);
}

DebugInfo::DebugInfo(std::string_view text, std::string_view name) {
  for (const ptx::TextPart& part : ptx::parts_of(text)) {
    auto reader = std::make_unique<Reader>(part, name);
    if (!reader->has_info()) continue;
    globals_.insert(globals_.end(), reader->globals().begin(), reader->globals().end());
    readers_.push_back(std::move(reader));
  }
}
DebugInfo::~DebugInfo() = default;

bool DebugInfo::has_variables() const { return !readers_.empty(); }

std::vector<Scope> DebugInfo::scopes_at(std::uint32_t ptx_line) const {
  std::vector<Scope> scopes;
  for (auto at = readers_.begin(); at != readers_.end() && scopes.empty(); ++at) {
    scopes = (*at)->scopes_at(ptx_line);
  }
  return scopes;
}

std::vector<InlinedCode> DebugInfo::inlined_code() const {
  std::vector<InlinedCode> all;
  for (const std::unique_ptr<Reader>& reader : readers_) reader->add_inlined(all);
  return all;
}

const std::vector<Variable>& DebugInfo::globals() const { return globals_; }

const Type* DebugInfo::find_type(std::string_view name) const {
  for (const std::unique_ptr<Reader>& reader : readers_) {
    if (const Type* const type = reader->find_type(name)) return type;
  }
  return nullptr;
}

DebugInfo::FoundEnumerator DebugInfo::find_enumerator(std::string_view name) const {
  for (const std::unique_ptr<Reader>& reader : readers_) {
    if (const FoundEnumerator found = reader->find_enumerator(name); found.type != nullptr) {
      return found;
    }
  }
  return {};
}

}  // namespace warpcheck::debug
