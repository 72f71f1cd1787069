"""Instructions as the grammar of the PTX ISA writes them, with all their qualifiers: ptx_forms.py asks the
assembler which of them it knows.

A row is a name with alternatives in braces, as `ld{,.weak}{,.global}{,.v2}.{b32,f64}`, and its operands:
`$v` is a register of the name's last type, or as many as `.v2` says, in braces; `$s` is one of them; `$0` and
`$1` are registers of the first and second type.  Other registers: %r 32 bits, %l 64, %h 16, %q 128, %f and
%d floats, %p predicates.
"""

import itertools
import re

REGISTERS = (".reg .b16 %h<16>; .reg .b32 %r<16>; .reg .b64 %l<16>; .reg .b128 %q<2>; .reg .f32 %f<16>; "
             ".reg .f64 %d<16>; .reg .pred %p<3>;")
LETTERS = {"b8": "h", "u8": "h", "s8": "h", "b16": "h", "u16": "h", "s16": "h", "f16": "h", "bf16": "h",
           "b32": "r", "u32": "r", "s32": "r", "f16x2": "r", "bf16x2": "r", "tf32": "r", "b64": "l", "u64": "l",
           "s64": "l", "b128": "q", "f32": "f", "f64": "d", **{f"{narrow}x2": "h" for narrow in (
               "e4m3", "e5m2", "e2m3", "e3m2", "ue8m0")}}
FLOATS_8 = "e4m3,e5m2,e2m3,e3m2,e2m1"
HINTS = "{,.L2::cache_hint}"

ROWS = [
    # Memory
    ("ld{,.weak,.relaxed.gpu,.acquire.sys,.relaxed.cluster,.acquire.cta,.volatile,.mmio.relaxed.sys}"
     "{,.global,.shared,.shared::cta,.shared::cluster,.local,.const,.param}{,.v2,.v4}"
     ".{b8,u8,b16,b32,u32,s32,b64,u64,f32,f64,b128}", "$v, [%l9]"),
    ("st{,.weak,.relaxed.gpu,.release.sys,.release.cluster,.volatile,.mmio.relaxed.sys}"
     "{,.global,.shared,.shared::cta,.shared::cluster,.local}{,.v2,.v4}"
     ".{b8,u8,b16,b32,u32,s32,b64,u64,f32,f64,b128}", "[%l9], $v"),
    ("ld.global{.ca,.cg,.cs,.lu,.cv}{,.v2,.v4,.v8}.{b32,f32,b64,f64}", "$v, [%l9]"),
    ("st.global{.wb,.cg,.cs,.wt}{,.v2,.v4,.v8}.{b32,f32,b64,f64}", "[%l9], $v"),
    ("ld{.global,.global.nc,.relaxed.gpu.global}{,.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,"
     ".L1::evict_last,.L1::no_allocate}{,.L2::evict_first,.L2::evict_last,.L2::evict_normal}"
     "{,.L2::64B,.L2::128B,.L2::256B}{,.v2,.v4,.v8}.{b32,f32,b64,f64}", "$v, [%l9]"),
    ("ld.global{,.nc}{,.L1::no_allocate}{,.L2::128B}{,.v2,.v4}.{u8,u16,b128}", "$v, [%l9]"),
    ("ld{.global,.global.nc}{,.L1::no_allocate}.L2::cache_hint{,.L2::128B}{,.v2,.v4}.{b32,f32,b64}",
     "$v, [%l9], %l8"),
    ("st.global{,.L1::evict_normal,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,.L2::evict_first}"
     "{,.v2,.v4,.v8}.{b32,f32,b64}", "[%l9], $v"),
    # Atomics
    ("atom{,.relaxed.gpu,.acq_rel.sys,.acquire.cluster,.release.cta}{,.global,.shared,.shared::cluster}"
     ".{add,min,max,inc,dec,and,or,xor,exch}.{b32,u32,s32,b64,u64,s64,f32,f64,b128}", "$s, [%l9], $s"),
    ("atom{,.relaxed.gpu,.acq_rel.sys}{,.global,.shared,.shared::cluster}.cas.{b16,b32,b64,b128}",
     "$s, [%l9], $s, $s"),
    ("red{,.relaxed.gpu,.release.sys}{,.global,.shared,.shared::cluster}.{add,min,max,inc,dec,and,or,xor}"
     ".{b32,u32,s32,b64,u64,s64,f32,f64}", "[%l9], $s"),
    ("{atom,red}{,.relaxed.gpu}.global{,.v2,.v4}.{add,min,max}.noftz.{f16x2,bf16x2}", "$a[%l9], $v"),
    ("{atom,red}{,.relaxed.gpu}.global.{add,min,max}.noftz.v8.{f16,bf16}", "$a[%l9], $v"),
    ("{atom,red}{,.relaxed.gpu}.global.add{,.v2,.v4}.f32", "$a[%l9], $v"),
    # Copies
    ("cp.async.{ca,cg}.shared{,::cta}.global{,.L2::64B,.L2::128B,.L2::256B}", "[%r0], [%l9], 16, %r1"),
    ("cp.async.ca.shared.global" + HINTS, "[%r0], [%l9], 4$h"),
    ("cp.async.bulk.shared::{cluster,cta}.global.mbarrier::complete_tx::bytes" + HINTS,
     "[%r0], [%l1], %r2, [%r3]$h"),
    ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster" + HINTS,
     "[%r0], [%l1], %r2, [%r3], %h0$h"),
    ("cp.reduce.async.bulk.global.shared::cta.bulk_group" + HINTS + ".{add,min,max,inc,dec,and,or,xor}{,.noftz}"
     ".{b32,u32,s32,b64,u64,s64,f16,bf16,f32,f64}", "[%l0], [%r0], %r1$h"),
    ("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes."
     "{add,min,max,inc,dec,and,or,xor}.{u32,s32,u64,b32}", "[%r2], [%r0], %r1, [%r3]"),
    ("st.async{,.weak}.shared::cluster.mbarrier::complete_tx::bytes{,.v2,.v4}.{b32,u32,s32,f32,b64,f64}",
     "[%r1], $v, [%r3]"),
    # Barrier objects, fences
    ("mbarrier.arrive{,_drop}{,.expect_tx}{,.release,.relaxed}{,.cta,.cluster}.shared{,::cta}.b64",
     "%l0, [%r9], %r1"),
    ("mbarrier.arrive{,_drop}{,.expect_tx}{,.release,.relaxed}{,.cta,.cluster}.shared::cluster.b64",
     "_, [%r9], %r1"),
    ("mbarrier.{expect_tx,complete_tx}{,.relaxed}{,.cta,.cluster}.shared{::cta,::cluster}.b64", "[%r9], %r1"),
    ("mbarrier.{test,try}_wait{,.acquire,.relaxed}{,.cta,.cluster}.shared{,::cta}.b64", "%p0, [%r9], %l1"),
    ("mbarrier.{test,try}_wait.parity{,.acquire,.relaxed}{,.cta,.cluster}{,.shared,.shared::cta}.b64",
     "%p0, [%l9], %r1"),
    ("fence{.sc,.acq_rel,.acquire,.release}.{cta,cluster,gpu,sys}", ""),
    ("fence.proxy{.alias,.async,.async.global,.async.shared::cta,.async.shared::cluster,"
     ".tensormap::generic.release.gpu}", ""),
    ("fence.proxy.tensormap::generic.acquire.{cta,cluster,gpu,sys}", "[%l0], 128"),
    ("barrier.cluster.{arrive{,.release,.relaxed},wait{,.acquire}}{,.aligned}", ""),
    # Matrices of a warp
    ("ldmatrix.sync.aligned.m8n8{.x1,.x2,.x4}{,.trans}.shared{,::cta}.b16", "$m, [%r9]"),
    ("ldmatrix.sync.aligned.m8n16{.x1,.x2,.x4}.shared.b8x16.{b6x16_p32,b4x16_p64}", "$m, [%r9]"),
    ("stmatrix.sync.aligned.m8n8{.x1,.x2,.x4}{,.trans}.shared{,::cta}.b16", "[%r9], $m"),
    ("stmatrix.sync.aligned.m16n8{.x1,.x2,.x4}.trans.shared.b8", "[%r9], $m"),
    # Tensor memory
    ("tcgen05.{ld,st}.sync.aligned.{32x32b,16x64b}{.x1,.x2,.x4,.x8,.x16}.b32", "$e"),
    ("tcgen05.ld.sync.aligned.{16x64b,32x32b}{.x2,.x4}.pack::16b.b32", "$e"),
    ("tcgen05.cp.cta_group::{1,2}.{128x256b,4x256b,128x128b,64x128b.warpx2::02_13,64x128b.warpx2::01_23,"
     "32x128b.warpx4}{,.b8x16.b6x16_p32,.b8x16.b4x16_p64}", "[%r0], %l0"),
    ("tcgen05.mma{,.sp}.cta_group::{1,2}.kind::{f16,tf32,f8f6f4,i8}{,.ashift}"
     "{,.collector::a::fill,.collector::a::use,.collector::a::lastuse,.collector::a::discard}",
     "[%r0], [%r1], %l1, $x%r3, %p0"),
    ("tcgen05.mma{,.sp}.cta_group::{1,2}.kind::{f16,tf32,f8f6f4,i8}", "[%r0], %l0, %l1, $x%r3, %p0"),
    ("tcgen05.mma.ws{,.sp}.cta_group::1.kind::{f16,tf32,f8f6f4,i8}.collector::b{0,1,2,3}::{fill,use,lastuse}",
     "[%r0], %l0, %l1, $x%r3, %p0, %l2"),
    ("tcgen05.mma{,.sp}.cta_group::{1,2}.kind::{mxf8f6f4,mxf4,mxf4nvf4}.block_scale{,.scale_vec::1X,"
     ".scale_vec::2X,.scale_vec::4X,.block16,.block32}", "[%r0], %l0, %l1, $x%r3, [%r6], [%r7], %p0"),
    # Conversions
    ("cvt{,.rn,.rz,.rni,.rzi}{,.ftz}{,.sat}.{f16,bf16,f32,f64,u8,s8,u16,s16,u32,s32,u64,s64}"
     ".{f16,bf16,f32,f64,u8,s8,u16,s16,u32,s32,u64,s64}", "$0, $1"),
    ("cvt{.rn,.rz,.rp}{,.satfinite}{,.relu}.{f16x2,bf16x2,e4m3x2,e5m2x2,e2m3x2,e3m2x2,ue8m0x2}.f32",
     "$0, %f1, %f2"),
    ("cvt{.rn,.rna,.rz}{,.satfinite}{,.relu}.tf32.f32", "$0, $1"),
    ("cvt.rn{,.relu}.{f16x2,bf16x2}.{e4m3x2,e5m2x2,e2m3x2,e3m2x2,ue8m0x2}", "$0, $1"),
]


def expand(pattern):
    """The names that a pattern with braces, also nested ones, stands for."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    return [name for word in found[1].split(",")
            for name in expand(pattern[:found.start()] + word + pattern[found.end():])]


def registers(letter, count, first=0):
    names = [f"%{letter}{first + i}" for i in range(count)]
    return names[0] if count == 1 else "{" + ", ".join(names) + "}"


def operands_of(name, template):
    types = [word for word in name.split(".") if word in LETTERS]
    last = LETTERS[types[-1]] if types else "r"
    count = int((re.search(r"\.v(\d)", name) or [0, 1])[1])
    number = int((re.search(r"\.x(\d+)", name) or [0, 1])[1])
    words = registers("r", number) if "matrix" in name and number == 1 else "{" + ", ".join(
        f"%r{i}" for i in range(number)) + "}"
    words = "{%r0}" if number == 1 else words
    text = {"$v": registers(last, count), "$s": f"%{last}0",
            "$a": registers(last, count) + ", " if name.startswith("atom") else "",
            "$h": ", %l8" if "cache_hint" in name else "", "$m": words,
            "$x": "[%r5], " if ".sp." in name else "",
            "$e": f"{words}, [%r9]" if ".ld." in name else f"[%r9], {words}"}
    for at, kind in enumerate(types[:2]):
        text[f"${at}"] = f"%{LETTERS[kind]}{at}"
    return re.sub(r"\$.", lambda found: text[found[0]], template)


def fragment(rows, columns, kind):
    """The registers of a thread for its part of a matrix of a warp."""
    bits = {"f64": 64, "f32": 32, "s32": 32, "tf32": 32, "f16": 16, "bf16": 16, "b1": 1, "s4": 4, "u4": 4}
    letter = {"f64": "d", "f32": "f"}.get(kind, "r")
    width = bits.get(kind, 8)
    return "{" + ", ".join(f"%{letter}{i}" for i in range(max(1, rows * columns * width // (1024 if width < 64
                                                                                       else 2048)))) + "}"


def products():
    """Products of a warp: mma.sync, dense and sparse."""
    def product(shape, kinds, words="", sparse="", end=""):
        m, n, k = map(int, re.findall(r"\d+", shape))
        d, a, b, c = kinds.split(".")
        stored = k // 2 if sparse else k
        metadata = ", %r9, 0" if sparse else ""
        return (f"mma{sparse}.sync.aligned.{shape}.row.col{words}.{kinds}{end[0] if end else ''} "
                f"{fragment(m, n, d)}, {fragment(m, stored, a)}, {fragment(n, k, b)}, {fragment(m, n, c)}"
                f"{metadata}{end[1] if end else ''}")

    rows = [("m16n8k{8,16}", "{f16.f16.f16.f16,f32.f16.f16.f32,f32.bf16.bf16.f32}"),
            ("m16n8k{4,8}", "f32.tf32.tf32.f32"), ("m{8n8k4,16n8k4,16n8k8,16n8k16}", "f64.f64.f64.f64"),
            ("m16n8k{16,32}", "s32.{s8,u8}.{s8,u8}.s32"), ("m16n8k{32,64}", "s32.{s4,u4}.{s4,u4}.s32"),
            ("m16n8k32", f"f32.{{{FLOATS_8}}}.{{{FLOATS_8}}}.f32")]
    for shapes, kinds in rows:
        yield from (product(shape, kind) for shape, kind in itertools.product(expand(shapes), expand(kinds)))
    for kind in expand(f"{{f16,f32}}.{{{FLOATS_8}}}.{{{FLOATS_8}}}"):
        d = kind.split(".")[0]
        yield product("m16n8k32", f"{kind}.{d}", ".kind::f8f6f4")
        yield product("m16n8k64", f"{kind}.{d}", ".kind::f8f6f4", ".sp::ordered_metadata")
    scales = ", {%r8}, {%h0, %h1}, {%r9}, {%h2, %h3}"
    for kind in expand(f"f32.{{{FLOATS_8}}}.{{{FLOATS_8}}}.f32"):
        yield product("m16n8k32", kind, ".kind::mxf8f6f4.block_scale", end=(".ue8m0", scales))
    sparse = [("m16n8k{16,32}", "{f16.f16.f16.f16,f32.f16.f16.f32,f32.bf16.bf16.f32}"),
              ("m16n8k{8,16}", "f32.tf32.tf32.f32"), ("m16n8k{32,64}", "s32.{s8,u8}.{s8,u8}.s32")]
    for shapes, kinds in sparse:
        for shape, kind, name in itertools.product(expand(shapes), expand(kinds), (".sp", ".sp::ordered_metadata")):
            yield product(shape, kind, sparse=name)


def tensor_copies():
    """Copies of tiles of tensors, in every mode and direction."""
    for d, to, group, many, hint in itertools.product(range(1, 6), ("cluster", "cta"), ("", ".cta_group::1",
                                                      ".cta_group::2"), ("", ".multicast::cluster"),
                                                      ("", ".L2::cache_hint")):
        place = "{" + ", ".join(f"%r{i}" for i in range(d)) + "}"
        offsets = {".im2col": d - 2, ".im2col::w": 2, ".im2col::w::128": 1}
        for mode in ("", ".tile", *offsets):
            if mode in offsets and d < 3:
                continue
            more = f", {registers('h', offsets[mode]) if offsets[mode] > 1 else '{%h0}'}" if mode in offsets else ""
            more += ", %h9" if many else ""
            more += ", %l5" if hint else ""
            yield (f"cp.async.bulk.tensor.{d}d.shared::{to}.global{mode}.mbarrier::complete_tx::bytes{many}{group}"
                   f"{hint} [%r8], [%l0, {place}], [%r9]{more}")
    for d, mode, name in itertools.product(range(1, 6), ("", ".tile", ".im2col_no_offs"),
                                           ("cp.async", *expand("cp.reduce.async{.add,.min,.max,.and,.or,.xor}"))):
        head, _, operation = name.partition("async")
        place = "{" + ", ".join(f"%r{i}" for i in range(d)) + "}"
        yield f"{head}async.bulk.tensor.{d}d.global.shared::cta{operation}{mode}.bulk_group [%l0, {place}], [%r9]"


def forms():
    for pattern, template in ROWS:
        for name in expand(pattern):
            yield f"{name} {operands_of(name, template)}".strip() + ";"
    for text in itertools.chain(products(), tensor_copies()):
        yield text + ";"
