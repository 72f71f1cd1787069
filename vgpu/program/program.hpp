// An executable kernel (Program): everything that can be determined before the first lane runs.
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
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/program/dim3.hpp"
#include "vgpu/program/flow/provenance.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/program/refusal.hpp"
#include "vgpu/program/symbol.hpp"
#include "vgpu/program/warp_rows.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {

using Operands = ByOperand<Ref>;

// The rows of a compute instruction, by name.
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

struct Instr;

// Executes one compute instruction for the lanes of `mask`; other lanes keep their values.
using ComputeFn = void (*)(const LaneBanks&, const Instr&, std::uint32_t mask);

// The kinds of instructions that the warp loop distinguishes.
enum class InstrKind : std::uint8_t {
  compute,        // computes rows from rows: `compute`
  warp,           // reads other lanes that are active: activemask, vote without .sync
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
  group_load,      // wgmma.mma_async: the elements of a matrix that a descriptor names
  group_pending,   // wgmma: results not waited for, commit_group, wait_group
  tensor_memory,   // tcgen05: TensorMemoryInstr
  cluster_barrier,
  heap_allocate,  // malloc() of device code
  heap_free,
  branch,
  jump,
  jump_table,  // brx.idx
  call,
  call_register,  // calls the function whose address is in a register
  ret,
  exit,
  barrier,
  fence,
  sleep,        // nanosleep
  trap,         // trap and brkpt
  stack,        // alloca, stacksave, stackrestore
  print,        // vprintf()
  assertion,    // __assertfail()
  device_call,  // a call of the device runtime: DeviceCallInstr
  texture,      // tex, tld4, suld, sust
  refusal,      // cannot be executed; in a function that may never be called
  nop,
};

// A decoded instruction.  Its operands: operands.hpp.  The modifiers of a copy say elements of
// .b32.
//
// Fields of one family only are in one of the two unions; no instruction uses two fields of a
// union.
struct Instr {
  ComputeFn compute = nullptr;  // set by link(); compute only
  Operands operands{};
  Ref guard{};  // predicate; none: unguarded
  bool guard_negated = false;
  InstrKind kind = InstrKind::nop;
  ptx::Opcode opcode{};
  ptx::SpecialRegister special = ptx::SpecialRegister::none;
  ptx::Modifiers modifiers;
  // load, store, atomic, copy: of the address, an index into Program::provenances
  std::uint16_t provenance = 0;
  // store: what is stored is, as the code shows, an address of a local variable, and goes to other
  // memory, or one of a shared variable.
  bool hands_on = false;
  // load, store, atomic: the address was read, by the same function, from memory that is not local.
  bool is_read_address = false;
  // load, atomic: the address is, as the code shows, that of the aligned word of this size that
  // contains some address (`p & ~3`).
  bool is_word_around = false;
  union {
    // load, store, atomic, barrier_object, copy: added to the address (for a copy: of the target)
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
    std::uint32_t tensor_instr;         // tensor_memory: index into Program::tensor_memory
    std::uint32_t device_call;          // device_call: index into Program::device_calls
    std::uint32_t source_displacement;  // copy: added to the source's address, signed
    // bulk_copy, tensor_copy: two intermediate wide rows for addresses; for a tensor, two more, and
    // one for an element; group_load: one
    std::uint32_t address_rows;
    std::uint32_t pending_rows;     // group_pending: consecutive word rows
    std::uint32_t elements;         // async_store
    std::uint32_t completed_bytes;  // barrier_object: of asynchronous operations
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

// Returns the scope of a strong access, with the default if its instruction names none: .gpu for an
// atomic operation (PTX ISA 9.7.13.5), .sys for a volatile access (8.4.1).
inline ptx::Scope scope_of(const Instr& instr) {
  if (instr.modifiers.scope != ptx::Scope::none) return instr.modifiers.scope;
  const bool is_plain = instr.kind == InstrKind::load || instr.kind == InstrKind::store;
  return is_plain ? ptx::Scope::sys : ptx::Scope::gpu;
}

struct Source {
  ptx::SourceLocation location;
  std::uint32_t ptx_line = 0;
  std::string text;  // mnemonic: "st.shared.u32"
};

struct Parameter {
  std::uint32_t offset = 0, bytes = 0, alignment = 1;
};

struct FunctionCode {
  std::string name;
  std::uint32_t entry = 0;                             // pc of its first instruction
  std::uint32_t words = 0, wides = 0, predicates = 0;  // rows of its frame
  std::uint32_t local_bytes = 0;                       // per lane, rounded up to 16
  std::uint32_t variable_bytes = 0;                    // of these: up to the end of its variables
  // Where its frame begins in the local memory of a lane; kNone: it depends on the callers.
  std::uint32_t local_begin = ptx::kNone;
  std::uint32_t outgoing_words = 0;      // rows after its frame, for the parameters of its calls
  std::uint32_t signature = ptx::kNone;  // of a function that may be called through a register
  bool by_address = false;               // reached only through registers, so perhaps never called
  // What it was decoded from; valid as long as its module.  Of its frame's word rows, the first
  // `param_rows` are those of its parameters; then come the rows of its registers.
  const ptx::Function* text = nullptr;
  std::uint32_t param_rows = 0;
};

struct UnwrittenRegister {
  Ref ref;
  std::uint32_t first_read = 0;  // the first pc at which it may be read unwritten
};

// The `.geom` of texture and surface instructions (PTX ISA 9.7.10): 1d, 2d, 3d, a1d, a2d, cube,
// acube.
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
  std::uint8_t count = 1;            // number of values
  ptx::Type type = ptx::Type::none;  // load, store: type of an element
  Ref object;                        // wide
  std::array<Ref, 4> values;         // destinations, or the values to store
  Ref is_resident;                   // a predicate that is set to true
  Ref layer;
  std::array<Ref, 3> at;  // for surfaces: x in bytes
  Ref level;
  std::array<Ref, 3> dx, dy;  // gradient
};

enum class DeviceFunction : std::uint8_t {
#define DEVICE_CALL(name, ...) name,
#include "vgpu/program/device_calls.def"
#undef DEVICE_CALL
};

// The operands of an instruction of kind `device_call`: word rows and wide rows.
struct DeviceCallInstr {
  DeviceFunction function{};
  std::vector<Ref> arguments;
  Ref result, stored;  // stored: the value that the next instruction stores
};

// A constant-bank row whose value is an address that is known only after the module is loaded.
struct AddressPatch {
  std::uint32_t constant_offset = 0;  // of a wide or word row
  std::uint32_t variable = 0;         // index into Module::variables
  std::int64_t addend = 0;
  bool wide = true;
  std::string name{};  // of the variable, mangled
};

class NativeTier;           // vgpu/machine
struct TensorMemoryInstrs;  // tensor_memory.hpp
struct PassingEdges;        // flow/passing_edges.hpp

struct Program {
  std::string kernel;       // mangled name
  std::string_view ptx;     // the text of its module, as long as that exists; empty: not known
  std::vector<Instr> code;  // functions[0] is the kernel
  std::vector<FunctionCode> functions;
  std::vector<Source> sources;
  std::vector<std::string> files;
  std::vector<ptx::SourceLocation> locations;  // inlined_at chains
  std::vector<std::string> inlined_functions;  // mangled; SourceLocation::function
  std::vector<std::byte> constants;            // rows, 64-byte aligned offsets
  std::vector<AddressPatch> patches;
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_offset = 0;  // offset of all extern __shared__ arrays
  std::vector<Symbol> shared_symbols;
  bool uses_heap = false;  // malloc() or free() in device code
  // The program uses other barriers than number 0 with the whole block.
  bool has_named_barriers = false;
  // .reqnctapercluster; 0: the launch decides whether blocks form clusters.
  Dim3 cluster{0, 0, 0};
  bool explicit_cluster = false;      // .explicitcluster: the kernel is made for clusters
  bool uses_reserved_shared = false;  // %reserved_smem_offset_1, used by cooperative groups
  // Blocks may access each other's shared memory, or synchronise.
  bool uses_clusters = false;
  bool has_grid_workspace = false;  // %envreg1 and %envreg2, used by grid barriers
  // Set by link(): threads can be ordered by something other than whole-block barriers (fences
  // with strong operations, acquire and release, barriers of a part of a block or a warp,
  // mbarriers, asynchronous copies).
  bool synchronizes_threads = false;
  std::uint32_t max_threads = 1024;  // per block: .maxntid, or the device's limit
  // Set by link(): lanes of a warp exchange values by shfl, vote, match, redux or elect.
  bool has_collectives = false;
  // Set by link(): an instruction accesses constant memory, or computes an address in it.
  bool has_constant_accesses = false;
  // Set by link(): the provenances of the addresses of loads that need not see what the same launch
  // has written (ld.global.nc, ldu), and, if there are such loads, of everything that may write
  // global memory.  Each once.
  std::vector<std::uint16_t> noncoherent_loads, global_writes;
  bool hands_on_pointers = false;  // there is an Instr::hands_on
  // Set by link(): by pc, the volatile and relaxed loads whose value is used in results and not
  // only compared (read_uses.hpp).  Empty: there is no volatile or relaxed store.
  std::vector<bool> data_reads;
  // Set by link(): by function, the registers that a thread may read before it has written them
  // (flow/unwritten_registers.hpp).  Empty: none.
  std::vector<std::vector<UnwrittenRegister>> unwritten_registers;
  // Set by link(): where threads pass barriers by; null: nowhere.
  std::shared_ptr<const PassingEdges> passing_edges;
  // The largest sums of frames over all call chains: bytes per lane, and rows.  With recursion: of
  // the calls before any function is called again.
  std::uint32_t local_bytes_max = 0;
  std::uint32_t words_max = 0, wides_max = 0, predicates_max = 0;
  // There is recursion, or alloca: the stack may grow beyond those maxima.
  bool dynamic_stack = false;
  std::vector<std::vector<std::uint32_t>> jump_tables;  // pcs
  std::map<std::uint64_t, std::uint32_t> function_at;   // by address: index into functions
  std::vector<std::string> refusals;
  std::vector<TextureInstr> texture_instrs;
  std::vector<DeviceCallInstr> device_calls;
  // The tcgen05 instructions; null: there is none.
  std::shared_ptr<TensorMemoryInstrs> tensor_memory;
  std::vector<Root> roots;
  // the first one is that of addresses with unknown provenance
  std::vector<Provenance> provenances;
  // set by link(): its machine code, once it has run long enough
  std::shared_ptr<NativeTier> native;

  [[nodiscard]] const Source& source_of(std::uint32_t pc) const { return sources[code[pc].source]; }
  // Returns the function whose code contains `pc`: an index into functions.
  [[nodiscard]] std::uint32_t function_of(std::uint32_t pc) const;
  // Returns the line to report for an instruction: the innermost location in the user's own code.
  // atomicAdd(), for example, is a function in a toolkit header, but the useful line is its
  // caller's.  In optimised code it is inlined; in unoptimised code the caller's line is known if
  // there is only one call.  If no line is in the user's code, the innermost location is returned.
  [[nodiscard]] const ptx::SourceLocation& user_location(std::uint32_t pc) const;
  // Returns whether a location is known and in the user's own code.
  [[nodiscard]] bool is_users(const ptx::SourceLocation& at) const;
  // Returns the calls in the user's own code that lead to a location, the innermost first.
  [[nodiscard]] std::vector<ptx::SourceLocation> user_callers(ptx::SourceLocation at) const;
};

// Returns the address of a device function.  It is computed from the name alone, so it is the same
// in every build; no memory is at such an address.
std::uint64_t function_address(std::string_view name);
inline constexpr std::uint64_t kFunctionBase = 0x0a00'0000'0000;
inline constexpr std::uint64_t kFunctionEnd = 0x0b00'0000'0000;

// The stack space of a call in addition to the callee's local variables: the return address and
// saved registers.  No recursive function on sm_90 uses less.
inline constexpr std::uint32_t kCallBytes = 16;

// Decodes one kernel and everything that it can reach.  Throws Refusal if the kernel, or a function
// that it calls by name, has an unsupported instruction.  In functions that are called only through
// registers, such an instruction becomes a `refusal`.
Program decode(const ptx::Module& module, std::string_view kernel);

}  // namespace warpcheck::vgpu
