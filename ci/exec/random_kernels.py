"""Random CUDA kernels without races: random_kernels.py SEED COUNT prints a program that runs them
and prints a hash of each one's results.  With the number of a kernel as its argument, that program
also prints what each thread has computed.

They consist of what compilers make much of: integers of all widths, floats, loops and branches in
which the threads of a warp part, `switch`, small arrays with computed indices, calls, exchanges
through shared memory and within the warp.
"""

import random
import sys

INTEGERS = ("int", "unsigned", "long long", "unsigned long long", "short", "unsigned char",
            "signed char", "unsigned short")
FLOATS = ("float", "double")
COMPARISONS = ("<", "==", ">=", "!=")

HEAD = """\
#include <cstdio>
#include <cstdlib>

// The payload of a NaN is not compared.
__device__ unsigned bits(float x) { return x != x ? 0 : __float_as_uint(x); }
__device__ unsigned long long bits(double x) { return x != x ? 0 : __double_as_longlong(x); }

__device__ __noinline__ int count(int a, unsigned b) {
  int result = 0;
  for (unsigned i = 0; i < (b & 7); ++i) result = result * 3 + (a ^ static_cast<int>(i));
  return result;
}
__device__ __noinline__ int choose(int a, unsigned b) {
  if (a > static_cast<int>(b)) return a - static_cast<int>(b);
  return a & 1 ? count(a, b) : static_cast<int>(b);
}
__device__ int pack(int a, unsigned b) {
  struct { unsigned x : 5, y : 11; int z : 9; } fields{};
  fields.x = a;
  fields.y = b;
  fields.z = a ^ static_cast<int>(b);
  return fields.x + fields.y * fields.z;
}
"""

MAIN = """
using Kernel = void (*)(const int*, const float*, unsigned long long*, int);
struct Launch { Kernel kernel; int threads, n; };
const Launch launches[] = {LAUNCHES};

int main(int argc, char** argv) {
  constexpr int kGrid = 96;
  static int ints[256];
  static float floats[64];
  static unsigned long long results[kGrid * 128];
  for (int i = 0; i < 256; ++i) ints[i] = i * 2654435761u >> (i % 20);
  for (int i = 0; i < 64; ++i) floats[i] = (i - 20) * 0.37f + (i % 5 == 0 ? 1e6f : 0);
  int* in;
  float* real_in;
  unsigned long long* out;
  cudaMalloc(&in, sizeof ints);
  cudaMalloc(&real_in, sizeof floats);
  cudaMalloc(&out, sizeof results);
  cudaMemcpy(in, ints, sizeof ints, cudaMemcpyHostToDevice);
  cudaMemcpy(real_in, floats, sizeof floats, cudaMemcpyHostToDevice);
  const int only = argc > 1 ? std::atoi(argv[1]) : -1;
  int number = 0;
  for (const Launch& launch : launches) {
    const int kernel = number++;
    if (only >= 0 && kernel != only) continue;
    launch.kernel<<<kGrid, launch.threads>>>(in, real_in, out, launch.n);
    const int count = kGrid * launch.threads;
    const cudaError_t error =
        cudaMemcpy(results, out, count * sizeof *results, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) return 1;
    unsigned long long hash = 0;
    for (int i = 0; i < count; ++i) {
      hash = hash * 1099511628211u + results[i];
      if (only >= 0) std::printf("%d %llx\\n", i, results[i]);
    }
    std::printf("kernel %d: %016llx\\n", kernel, hash);
  }
}
"""


class Kernel:
    def __init__(self, choice, number):
        self.choice, self.number = choice, number
        self.threads = choice.choice((32, 33, 64, 96, 100, 128))
        self.variables = []  # (name, type), those that are in scope
        self.constants = []  # counters of loops
        self.names = 0
        self.lines = []
        self.indent = 1

    def text(self):
        for _ in range(self.choice.randint(6, 14)):
            self.statement(0, is_uniform=True)
        results = "".join(
            f"  hash = hash * 31 + {f'bits({name})' if kind in FLOATS else name};\n"
            for name, kind in self.variables)
        return (f"__global__ void kernel{self.number}(const int* __restrict__ in, const float* "
                "real_in, unsigned long long* out, int n) {\n"
                "  __shared__ long long cells[128];\n"
                "  const int tid = threadIdx.x, lane = tid & 31, block = blockIdx.x;\n"
                + "\n".join(self.lines) + "\n  unsigned long long hash = 7;\n" + results +
                "  out[blockIdx.x * blockDim.x + tid] = hash;\n}\n")

    def emit(self, text):
        self.lines.append("  " * self.indent + text)

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def of_types(self, types):
        return [name for name, kind in self.variables if kind in types]

    def define(self, kind, value):
        name = self.name()
        self.emit(f"{kind} {name} = ({kind})({value});")
        self.variables.append((name, kind))

    # ---- expressions ----

    def integer(self, depth=0):
        pick = self.choice.choice
        if depth > 3 or self.choice.random() < 0.35:
            return pick(self.of_types(INTEGERS) + self.constants +
                        ["tid", "lane", "block", "n", str(self.choice.randint(-9, 99)),
                         hex(self.choice.getrandbits(32)) + "u"])
        a, b = self.integer(depth + 1), self.integer(depth + 1)
        return pick((self.sum, self.sum, self.sum, self.sum, self.shift, self.quotient,
                     self.condition, self.conversion, self.intrinsic, self.call))(a, b, depth)

    def sum(self, a, b, _depth):
        kind = self.choice.choice(("unsigned", "unsigned long long", "unsigned short"))
        return f"(({kind})({a}) {self.choice.choice('+-*&|^')} ({b}))"

    def shift(self, a, b, _depth):
        if self.choice.random() < 0.5:
            return f"((unsigned long long)({a}) << (({b}) & {self.choice.choice((7, 31, 63))}))"
        kind = self.choice.choice(("unsigned", "int", "long long"))
        return f"(({kind})({a}) >> (({b}) & {self.choice.choice((7, 15, 31))}))"

    def quotient(self, a, b, _depth):
        kind = self.choice.choice(("int", "unsigned", "long long", "unsigned long long", "short"))
        operator = self.choice.choice("/%")
        return f"(({kind})({a}) {operator} ({kind})((({kind})({b}) & 0x7ffe) | 1))"

    def condition(self, a, b, depth):
        test = f"({a}) {self.choice.choice(COMPARISONS)} ({b})"
        if self.choice.random() < 0.5:
            return f"({test})"
        return f"({test} ? ({self.integer(depth + 1)}) : ({self.integer(depth + 1)}))"

    def conversion(self, a, _b, _depth):
        return f"({self.choice.choice(INTEGERS)})({a})"

    def intrinsic(self, a, b, _depth):
        return self.choice.choice((
            f"__popc((unsigned)({a}))", f"__clz((unsigned)({a}))", f"__brev((unsigned)({a}))",
            f"__ffs((unsigned)({a}))", f"min((int)({a}), (int)({b}))",
            f"max((unsigned)({a}), (unsigned)({b}))",
            f"__umulhi((unsigned)({a}), (unsigned)({b}))",
            f"__mulhi((int)({a}), (int)({b}))", f"__mul64hi((long long)({a}), (long long)({b}))",
            f"__byte_perm((unsigned)({a}), (unsigned)({b}), 0x5410)",
            f"__byte_perm((unsigned)({a}), (unsigned)({b}), (unsigned)tid)",
            f"__funnelshift_l((unsigned)({a}), (unsigned)({b}), (unsigned)({b}))",
            f"__vadd4({a}, {b})", f"__vabsdiffu4({a}, {b})", f"__dp4a((int)({a}), (int)({b}), 7)",
            f"__mul24({a}, {b})", f"__sad((int)({a}), (int)({b}), 3u)",
            f"in[(unsigned)({a}) % 256u]"))

    def call(self, a, b, _depth):
        function = self.choice.choice(("count", "choose", "pack"))
        return f"{function}((int)({a}), (unsigned)({b}))"

    def real(self, kind, depth=0):
        f = "f" if kind == "float" else ""
        if depth > 3 or self.choice.random() < 0.3:
            integer = self.choice.choice(self.of_types(INTEGERS) + ["tid"])
            return self.choice.choice(
                self.of_types((kind,)) + ["1.5f" if f else "2.25", f"({kind})({integer})",
                                          f"({kind})real_in[(unsigned)({integer}) % 64u]"])
        a, b, c = (self.real(kind, depth + 1) for _ in range(3))
        return self.choice.choice((
            f"(({a}) + ({b}))", f"(({a}) * ({b}))", f"(({a}) - ({b}))", f"(({a}) / ({b}))",
            f"sqrt{f}(fabs{f}({a}))", f"fmin{f}({a}, {b})", f"fmax{f}({a}, {b})",
            f"fma{f}({a}, {b}, {c})", f"floor{f}({a})", f"rint{f}({a})", f"trunc{f}({a})",
            f"copysign{f}({a}, {b})", f"(({a}) < ({b}) ? ({a}) : ({b}))",
            f"({kind})({self.choice.choice(FLOATS)})({a})",
            f"({kind})(long long)fmin{f}(fmax{f}({a}, -1e9), 1e9)"))

    # ---- statements; is_uniform: all threads of the block execute it together ----

    def statement(self, depth, is_uniform):
        kinds = [(50, self.assign)]
        if depth <= 2:
            kinds += [(12, self.branch), (12, self.loop), (6, self.switch), (6, self.array)]
            if is_uniform:
                kinds.append((8, self.exchange))
                if self.threads % 32 == 0:
                    kinds.append((6, self.exchange_in_warp))
        weights, statements = zip(*kinds)
        self.choice.choices(statements, weights)[0](depth, is_uniform)

    def body(self, depth, is_uniform):
        outer = len(self.variables)
        self.indent += 1
        for _ in range(self.choice.randint(2, 5)):
            self.statement(depth + 1, is_uniform)
        self.indent -= 1
        del self.variables[outer:]

    def assign(self, _depth, _is_uniform):
        is_old = self.variables and self.choice.random() < 0.2
        name, kind = self.choice.choice(self.variables) if is_old else (
            None, self.choice.choice(INTEGERS + FLOATS + ("int", "unsigned")))
        value = self.real(kind) if kind in FLOATS else self.integer()
        if is_old:
            self.emit(f"{name} = ({kind})({value});")
        else:
            self.define(kind, value)

    def branch(self, depth, _is_uniform):
        test = self.choice.choice(("& 1", "> 20", "< 5", "% 3"))
        self.emit(f"if (({self.integer()}) {test}) {{")
        self.body(depth, False)
        if self.choice.random() < 0.5:
            self.emit("} else {")
            self.body(depth, False)
        self.emit("}")

    def loop(self, depth, is_uniform):
        counter = self.name()
        bounds = [("n % 5 + 2", True), ("block % 7 + 1", True), ("4", True), ("tid % 7 + 1", False),
                  ("lane % 4", False), (f"(unsigned)({self.integer()}) % 6u", False)]
        bound, is_same = self.choice.choice(bounds)
        self.emit(f"for (int {counter} = 0; {counter} < (int)({bound}); ++{counter}) {{")
        self.constants.append(counter)
        self.body(depth, is_uniform and is_same)
        if not (is_uniform and is_same) and self.choice.random() < 0.25:
            self.emit(f"  if ((({self.integer()}) & 7) == 3) "
                      f"{self.choice.choice(('break', 'continue'))};")
        self.constants.pop()
        self.emit("}")

    def switch(self, depth, _is_uniform):
        self.emit(f"switch ((unsigned)({self.integer()}) % 4u) {{")
        for case in range(self.choice.randint(2, 4)):
            self.emit(f"case {case}: {{")
            self.body(depth, False)
            self.emit("}" + self.choice.choice((" break;", "")))
        self.emit("default: break;")
        self.emit("}")

    def array(self, _depth, _is_uniform):
        array = self.name()
        self.emit(f"int {array}[8];")
        self.emit(f"for (int q = 0; q < 8; ++q) {array}[q] = q * (unsigned)({self.integer()});")
        self.emit(f"{array}[(unsigned)({self.integer()}) % 8u] ^= (int)({self.integer()});")
        self.define("int", f"{array}[(unsigned)({self.integer()}) % 8u]")

    def exchange(self, _depth, _is_uniform):
        self.emit("__syncthreads();")
        self.emit(f"cells[tid] = (long long)({self.integer()});")
        self.emit("__syncthreads();")
        other = self.choice.choice(("tid + 1", "tid ^ 1", "blockDim.x - 1 - tid", "tid * 7",
                                    self.integer()))
        self.define(self.choice.choice(("int", "unsigned", "long long", "float")),
                    f"cells[(unsigned)({other}) % blockDim.x]")
        self.emit("__syncthreads();")

    def exchange_in_warp(self, _depth, _is_uniform):
        value = f"(int)({self.integer()})"
        self.define("int", self.choice.choice((
            f"__shfl_xor_sync(~0u, {value}, {self.choice.choice((1, 2, 4, 8, 16))})",
            f"__shfl_sync(~0u, {value}, (int)({self.integer()}))",
            f"__shfl_down_sync(~0u, {value}, 3)", f"__ballot_sync(~0u, {value})",
            f"__match_any_sync(~0u, {value} & 3)", f"__any_sync(~0u, {value})",
            f"__shfl_up_sync(~0u, {value}, 5)")))


def program(seed, count):
    choice = random.Random(seed)
    kernels = [Kernel(choice, number) for number in range(count)]
    texts = [kernel.text() for kernel in kernels]
    launches = ", ".join(f"{{kernel{kernel.number}, {kernel.threads}, {choice.randint(0, 1000)}}}"
                         for kernel in kernels)
    return HEAD + "\n".join(texts) + MAIN.replace("LAUNCHES", launches)


if __name__ == "__main__":
    print(program(int(sys.argv[1]), int(sys.argv[2])), end="")
