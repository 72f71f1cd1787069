// An executable kernel: everything that can be decided before the first lane runs.
//
// decode() takes one kernel out of a parsed module, with every function it can reach, and lays
// the code out in *reconvergence order*: blocks topologically, each loop contiguous and before
// its exits.  Running the fragment with the lowest program counter first then reconverges
// diverged lanes at the earliest point (thread frontiers: Diamos et al., MICRO 2011).
//
// Registers live in banks of rows of 32 lanes, so that one instruction works on one row of each
// operand: 32-bit rows (all types up to 32 bits, zero-extended), 64-bit rows, and predicates
// (one bit a lane).  Banks are stacks: a call's frame begins where its caller's ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/program/dim3.hpp"
#include "vgpu/program/flow/provenance.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {

inline constexpr unsigned kWarpLanes = 32;
inline constexpr std::uint32_t kWordRowBytes = kWarpLanes * 4;
inline constexpr std::uint32_t kWideRowBytes = kWarpLanes * 8;

enum class Bank : std::uint8_t {
  word,       // 32 x 4 bytes a row
  wide,       // 32 x 8 bytes a row
  constant,   // rows of either width, the same in all lanes
  predicate,  // 4 bytes: bit l is lane l
  none,       // operand absent, or the sink `_`
};

// Where an operand's row is: byte offset from the frame's base in its bank.
struct Ref {
  Bank bank = Bank::none;
  std::uint32_t offset = 0;
  friend bool operator==(const Ref&, const Ref&) = default;
};

using Operands = ByOperand<Ref>;

// The rows of a compute instruction, by their names.
struct ComputeRows {
  Ref d{}, a{}, b{}, c{}, e{}, f{};
  constexpr explicit(false) operator Operands() const {
    Operands rows;
    rows[ComputeOperand::d] = d;
    rows[ComputeOperand::a] = a;
    rows[ComputeOperand::b] = b;
    rows[ComputeOperand::c] = c;
    rows[ComputeOperand::e] = e;
    rows[ComputeOperand::f] = f;
    return rows;
  }
};

// The bases of the current frame, indexed by Bank.
struct LaneBanks {
  std::array<std::byte*, 4> base{};
};

struct Instr;

// Row number `rows` from `first` on, where they lie side by side.
constexpr Ref row_after(Ref first, std::uint32_t rows) {
  if (first.bank != Bank::none) {
    first.offset += rows * (first.bank == Bank::wide ? kWideRowBytes : kWordRowBytes);
  }
  return first;
}

// Executes one compute instruction for the lanes of `mask`; other lanes keep their values.
using ComputeFn = void (*)(const LaneBanks&, const Instr&, std::uint32_t mask);

// How the warp loop treats an instruction.
enum class InstrKind : std::uint8_t {
  compute,        // rows in, rows out: `compute`
  warp,           // reads other lanes that happen to be active: activemask, vote without .sync
  warp_sync,      // waits for the lanes of its member mask: shfl.sync ..., bar.warp.sync
  special,        // mov from a special register
  param,          // ld.param of the kernel's parameters
  local_address,  // mov of a local variable's address
  load,
  store,
  atomic,
  barrier_object,  // mbarrier
  copy,            // cp.async; discard
  copy_group,      // cp.async.commit_group, wait_group, wait_all
  bulk_copy,       // cp.async.bulk, cp.reduce.async.bulk
  tensor_copy,     // cp.async.bulk.tensor, cp.reduce.async.bulk.tensor
  async_store,     // st.async, red.async
  group_load,      // wgmma.mma_async: the elements of a matrix that a descriptor leads to
  group_pending,   // wgmma: results that nobody has waited for, commit_group, wait_group
  cluster_barrier,
  heap_allocate,  // malloc() of device code
  heap_free,
  branch,
  jump,
  jump_table,  // brx.idx
  call,
  call_register,  // to the function whose address a register holds
  ret,
  exit,
  barrier,
  fence,
  sleep,        // nanosleep
  trap,         // trap and brkpt
  stack,        // alloca, stacksave, stackrestore
  print,        // vprintf()
  assertion,    // __assertfail()
  device_call,  // of the device runtime: DeviceCallInstr
  texture,      // tex, tld4, suld, sust
  refusal,      // what cannot be run, in a function of which nobody knows whether it is called
  nop,
};

// One decoded instruction.  Its operands: operands.hpp.  A copy's modifiers say elements of .b32.
//
// What belongs to one family alone has its name in one of the two unions: there is no instruction
// that has two of a union.
struct Instr {
  ComputeFn compute = nullptr;  // set by link(); compute only
  Operands operands{};
  Ref guard{};  // predicate; none: unguarded
  bool guard_negated = false;
  InstrKind kind = InstrKind::nop;
  ptx::Opcode opcode = ptx::Opcode::invalid;
  ptx::SpecialRegister special = ptx::SpecialRegister::none;
  ptx::Modifiers modifiers;
  // load, store, atomic, copy: of the address, an index into Program::provenances
  std::uint16_t provenance = 0;
  union {
    // load, store, atomic, barrier_object, copy: added to the address; of a copy's target
    std::int64_t displacement = 0;
    std::int64_t parameter_offset;  // param: bytes into the kernel's parameters
    std::int64_t local_offset;      // local_address: bytes into the frame
    std::int64_t alignment;         // stack: of alloca, bytes
    std::int64_t truth_table;       // compute: of lop3
    std::int64_t packed;            // compute, warp_sync, group_load: see video.hpp and matrix.hpp
  };
  union {
    std::uint32_t target = 0;           // branch, jump: pc
    std::uint32_t table;                // jump_table: index into Program::jump_tables
    std::uint32_t function;             // call: index into Program::functions
    std::uint32_t signature;            // call_register
    std::uint32_t refusal;              // refusal: index into Program::refusals
    std::uint32_t texture;              // texture: index into Program::texture_instrs
    std::uint32_t device_call;          // device_call: index into Program::device_calls
    std::uint32_t source_displacement;  // copy: added to the source's address, signed
    // bulk_copy, tensor_copy: two wide rows for addresses on their way; then, of a tensor, two
    // more, and one for an element; group_load: one
    std::uint32_t address_rows;
    std::uint32_t pending_rows;     // group_pending: of words, side by side
    std::uint32_t elements;         // async_store
    std::uint32_t completed_bytes;  // barrier_object: of what is asynchronous
  };
  std::uint32_t source = 0;  // index into Program::sources

  template <OperandName Name>
  [[gnu::always_inline]] Ref& operator[](Name name) {
    return operands[name];
  }
  template <OperandName Name>
  [[gnu::always_inline]] const Ref& operator[](Name name) const {
    return operands[name];
  }
};

// mov {part, part ...}, a
constexpr bool unpacks(const Instr& instr) {
  return instr.opcode == ptx::Opcode::mov_ && instr.modifiers.vector != 1 &&
         instr.operands[ComputeOperand::b].bank == Bank::none;
}

struct Source {
  ptx::SourceLocation location;
  std::uint32_t ptx_line = 0;
  std::string text;  // mnemonic: "st.shared.u32"
};

struct Parameter {
  std::uint32_t offset = 0, bytes = 0, alignment = 1;
};

// A named range of shared or constant memory, for reports and addresses.
struct Symbol {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;  // 0: up to the end (extern __shared__)
};

struct FunctionCode {
  std::string name;
  std::uint32_t entry = 0;                             // pc of its first instruction
  std::uint32_t words = 0, wides = 0, predicates = 0;  // rows of its frame
  std::uint32_t local_bytes = 0;                       // a lane, rounded up to 16
  std::uint32_t outgoing_words = 0;      // rows beyond its frame, for the parameters of its calls
  std::uint32_t signature = ptx::kNone;  // of a function that may be called through a register
  bool by_address = false;  // reached through registers alone: nobody knows whether it is called
};

// `.geom` of texture and surface instructions (PTX ISA 9.7.10): 1d, 2d, 3d, a1d, a2d, cube, acube.
enum class Geometry : std::uint8_t { line, plane, volume, lines, planes, cube, cubes };

// The operands of an instruction of kind `texture`.
struct TextureInstr {
  enum class Operation : std::uint8_t { fetch, level, gradient, gather, load, store };
  enum class Boundary : std::uint8_t { trap, clamp, zero };  // of surfaces
  Operation operation = Operation::fetch;
  Geometry geometry = Geometry::plane;
  Boundary boundary = Boundary::trap;
  bool integer_coordinates = false;
  std::uint8_t component = 0;        // gather
  std::uint8_t count = 1;            // values
  ptx::Type type = ptx::Type::none;  // load, store: of an element
  Ref object;                        // wide
  std::array<Ref, 4> values;         // destinations, or what is stored
  Ref is_resident;                   // a predicate that becomes true
  Ref layer;
  std::array<Ref, 3> at;  // of surfaces: x in bytes
  Ref level;
  std::array<Ref, 3> dx, dy;  // gradient
};

enum class DeviceFunction : std::uint8_t {
#define DEVICE_CALL(name, ...) name,
#include "vgpu/program/device_calls.def"
#undef DEVICE_CALL
};

// The operands of an instruction of kind `device_call`: rows of words and wide rows.
struct DeviceCallInstr {
  DeviceFunction function{};
  std::vector<Ref> arguments;
  Ref result, stored;  // stored: what the instruction behind it stores
};

// A constant-bank row whose value is an address that is known only when the module is loaded.
struct AddressPatch {
  std::uint32_t constant_offset = 0;  // of a wide or word row
  std::uint32_t variable = 0;         // index into Module::variables
  std::int64_t addend = 0;
  bool wide = true;
};

class NativeTier;  // vgpu/machine

struct Program {
  std::string kernel;       // mangled name
  std::vector<Instr> code;  // functions[0] is the kernel
  std::vector<FunctionCode> functions;
  std::vector<Source> sources;
  std::vector<std::string> files;
  std::vector<ptx::SourceLocation> locations;  // inlined_at chains
  std::vector<std::byte> constants;            // rows, 64-byte aligned offsets
  std::vector<AddressPatch> patches;
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_offset = 0;  // where every extern __shared__ array begins
  std::vector<Symbol> shared_symbols;
  bool uses_heap = false;  // malloc() or free() in device code
  // Any barrier other than one of the whole block with the number 0.
  bool has_named_barriers = false;
  // .reqnctapercluster; 0: the launch decides whether blocks form clusters.
  Dim3 cluster{0, 0, 0};
  bool explicit_cluster = false;      // .explicitcluster: the kernel is made for clusters
  bool uses_reserved_shared = false;  // %reserved_smem_offset_1: what cooperative groups use
  bool uses_clusters = false;         // blocks may reach each other's shared memory, or meet
  bool has_grid_workspace = false;    // %envreg1 and %envreg2: barriers of the grid
  // Set by link(): threads can be ordered by more than barriers of whole blocks (fences, acquire
  // and release, barriers of a part of a block or a warp, mbarriers, asynchronous copies).
  bool synchronizes_threads = false;
  std::uint32_t max_threads = 1024;  // a block: .maxntid, or the device's limit
  // Set by link(): lanes of a warp pass values on by shfl, vote, match, redux or elect.
  bool has_collectives = false;
  // Set by link(): an instruction accesses constant memory, or makes an address in it.
  bool has_constant_accesses = false;
  // Set by link(): by pc, the volatile and relaxed loads whose value goes into results, and is not
  // only compared (read_uses.hpp).  Empty: there is no volatile or relaxed store.
  std::vector<bool> data_reads;
  // Deepest sums of frames: bytes a lane, and rows.  With recursion, of the calls before any
  // function is called again.
  std::uint32_t local_bytes_max = 0;
  std::uint32_t words_max = 0, wides_max = 0, predicates_max = 0;
  // There is recursion, or alloca: the stack may grow beyond those.
  bool dynamic_stack = false;
  std::vector<std::vector<std::uint32_t>> jump_tables;  // pcs
  std::map<std::uint64_t, std::uint32_t> function_at;   // by address: index into functions
  std::vector<std::string> refusals;
  std::vector<TextureInstr> texture_instrs;
  std::vector<DeviceCallInstr> device_calls;
  std::vector<Root> roots;
  std::vector<Provenance> provenances;  // the first is that of addresses of which nothing is known
  std::shared_ptr<NativeTier> native;   // set by link(): its machine code, once it has run for long

  [[nodiscard]] const Source& source_of(std::uint32_t pc) const { return sources[code[pc].source]; }
  // The function whose code holds `pc`: an index into functions.
  [[nodiscard]] std::uint32_t function_of(std::uint32_t pc) const;
  // The line to report for an instruction: the innermost location in the user's own code.
  // atomicAdd() is a function in a header of the toolkit, but it is the line that calls it which
  // explains anything.  Optimised code has it inlined; in unoptimised code the line is known if
  // there is but one call.  The innermost of all where no line is the user's.
  [[nodiscard]] const ptx::SourceLocation& user_location(std::uint32_t pc) const;
};

// A kernel that cannot run here.  what() names the instruction or function, file and line, and
// the reason.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The address of a device function: made from its name alone, so that it is the same in every
// build, and no memory answers to it.
std::uint64_t function_address(std::string_view name);
inline constexpr std::uint64_t kFunctionBase = 0x0a00'0000'0000;
inline constexpr std::uint64_t kFunctionEnd = 0x0b00'0000'0000;

// What a call takes up of a stack that grows, besides the local variables of its function: the
// return address and saved registers.  No less in any recursive function of sm_90.
inline constexpr std::uint32_t kCallBytes = 16;

// Decodes one kernel and all it can reach.  Throws Refusal for what the kernel and the functions
// that it calls by name cannot do; in functions that are called through registers alone, the
// instruction becomes a `refusal`.
Program decode(const ptx::Module& module, std::string_view kernel);

}  // namespace warpcheck::vgpu
