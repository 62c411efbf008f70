"""`cvt` (PTX ISA 9.7.9.21)."""
from fractions import Fraction

import floats
from expected import Group, signed
from floating import V16, V32, V64, VB16, turned
from floats import BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, F64, INF, NAN
from integer import W16, W32, W64, clamped

FLOATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
VALUES = {"f16": V16, "bf16": VB16, "f32": V32 + [0x42FF0000, 0xC3000000, 0x4F000000, 0x3FC00000, 0xC0200000], "f64": V64 + [0x41EFFFFFFFF00000, 0xC1E0000000200000, 0x3FF8000000000000, 0xC004000000000000]}
INTEGERS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]
KIND = {**{ty: "b" + ty[1:] for ty in INTEGERS}, "u8": "b16", "s8": "b16", "f16": "b16", "bf16": "b16", "f32": "b32", "f64": "b64"}
WORDS = {"b16": W16, "b32": W32, "b64": W64}
read = lambda ty, x: signed(x, int(ty[1:])) if ty[0] == "s" else x & (1 << int(ty[1:])) - 1


def to_integer(source, ty):
    fmt, bits = FLOATS[source], int(ty[1:])

    def run(f, a):
        x = fmt.decode(a)
        x = fmt.flushed(x) if f.has("ftz") else x
        if x[1] == NAN:
            return signed(1 << bits - 1, bits) if ty[0] == "s" and (bits == 64 or source == "f64") else 1 << bits - 1 if bits == 64 or source == "f64" else 0
        if x[1] == INF:
            return clamped(-(1 << 99) if x[0] else 1 << 99, bits, ty[0] == "s")
        code = int(x[1])
        mode = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}[f.modifiers[0]]
        code += floats.rounds_up(x[0], code, x[1] - code, mode)
        return clamped(-code if x[0] else code, bits, ty[0] == "s")
    return run


for source in FLOATS:
    kind = KIND[source]
    arch = "sm_90a" if source == "bf16" else "sm_80"
    g = Group("convert", {"a": (kind, VALUES[source])}, arch=arch)
    # ptxas has no bytes from bf16, or to it.
    for ty in INTEGERS[2 if source == "bf16" else 0:]:
        flush = "{,.ftz}" if source == "f32" and ty == "s32" else ""
        g.case(f"cvt.{{rni,rzi,rmi,rpi}}{flush}.{ty}.{source} d, a;", KIND[ty], to_integer(source, ty))
for ty in INTEGERS:
    g = Group("convert", {"a": (KIND[ty], WORDS[KIND[ty]])})
    for target, fmt in FLOATS.items():
        if target == "bf16" and ty.endswith("8"):
            continue
        arch = "sm_90a" if target == "bf16" else "sm_80"
        g.case(f"cvt.{{rn,rz,rm,rp}}.{target}.{ty} d, a;", KIND[target], lambda f, a, fmt=fmt, ty=ty: fmt.encode(floats.number(Fraction(read(ty, a))), f.rounding), arch=arch)
    for target in INTEGERS:
        g.case(f"cvt.{target}.{ty} d, a;", KIND[target], lambda f, a, ty=ty, target=target: read(target, read(ty, a)))
        low, high = (clamped(x, int(ty[1:]), ty[0] == "s") for x in (-(1 << 99), 1 << 99))
        if clamped(low, int(target[1:]), target[0] == "s") != low or clamped(high, int(target[1:]), target[0] == "s") != high:
            g.case(f"cvt.sat.{target}.{ty} d, a;", KIND[target], lambda f, a, ty=ty, target=target: clamped(read(ty, a), int(target[1:]), target[0] == "s"))

# Between formats. What a NaN becomes is specified where the result is no NaN of `bf16` or `f64`; the
# others are read off an H200: from and to doubles the sign and the top of the payload stay, and
# TF32's rounding away cuts whatever there is.
def moved(source, target):
    def run(f, a):
        mantissa = (a & (1 << source.mantissa) - 1 | 1 << source.mantissa - 1) << 52 >> source.mantissa >> 52 - target.mantissa
        return a >> source.bits - 1 << target.bits - 1 | target.infinity | mantissa
    return run


NANS64 = Group("convert", {"a": ("b64", [0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8000000000005, 0x7FF8123456789ABC, 0xFFFFFFFFFFFFFFFF])})
NANS64.case("cvt.{rn,rz,rm,rp}.f32.f64 d, a;", "b32", moved(F64, F32))
NANS64.case("cvt.{rn,rz}.f16.f64 d, a;", "b16", moved(F64, F16))
NANS64.case("cvt.{rn,rz}.bf16.f64 d, a;", "b16", moved(F64, BF16), arch="sm_90a")
NANS64.case("cvt.{rni,rzi,rmi,rpi}.f64.f64 d, a;", "b64", lambda f, a: a | 1 << 51)
NANS32 = Group("convert", {"a": ("b32", [0x7FC00000, 0x7F800001, 0xFFC00005, 0xFF812345, 0x7FFFFFFF, 0xFFFFFFFF])})
NANS32.case("cvt{,.ftz}.f64.f32 d, a;", "b64", moved(F32, F64))
NANS32.case("cvt.rna.tf32.f32 d, a;", "b32", lambda f, a: a & ~0x1FFF)
NANS32.case("cvt.{rn,rz}.tf32.f32 d, a;", "b32", lambda f, a: 0x7FFFE000, arch="sm_90a")
NANS16 = Group("convert", {"a": ("b16", [0x7FFF, 0xFFC1])}, arch="sm_90a")
NANS16.case("cvt.f64.{f16,bf16} d, a;", "b64", lambda f, a: 0x7FFFFFFFE0000000)
number = lambda ty: [x for x in VALUES[ty] if FLOATS[ty].decode(x)[1] != NAN]


def between(source, target):
    def run(f, a):
        x = FLOATS[source].decode(a)
        if f.has("ftz") and source == "f32":
            x = F32.flushed(x)
        if f.has("relu") and x[0] and x[1] != NAN:
            x = 0, Fraction(0)
        x = floats.saturated(x) if f.has("sat") else x
        return FLOATS[target].encode(x, f.rounding, finite=f.has("satfinite"))
    return run


for source, forms in {
    "f32": ["cvt.{rn,rz,rm,rp}.f16.f32", "cvt.{rn,rz}{,.relu}{,.satfinite}.f16.f32", "cvt.{rn,rz}{,.relu}{,.satfinite}.bf16.f32", "cvt{,.ftz}.f64.f32", "cvt.sat.f64.f32", "cvt.rn.sat.f16.f32", "cvt{,.ftz}.sat.f32.f32"],
    "f64": ["cvt.{rn,rz,rm,rp}{,.ftz,.sat}.f32.f64", "cvt.{rn,rz,rm,rp}.f16.f64", "cvt.{rn,rz,rm,rp}.bf16.f64", "cvt.sat.f64.f64"],
    "f16": ["cvt{,.sat}.f32.f16", "cvt{,.sat}.f64.f16", "cvt.{rn,rz,rm,rp}.bf16.f16", "cvt.sat.f16.f16"],
    "bf16": ["cvt.f32.bf16", "cvt.f64.bf16", "cvt.{rn,rz,rm,rp}.f16.bf16"],
}.items():
    g = Group("convert", {"a": (KIND[source], number(source))})
    for pattern in forms:
        target = pattern.split(".")[-2]
        newer = "bf16" in pattern and not pattern.endswith("{,.satfinite}.bf16.f32") and pattern != "cvt.f32.bf16"
        def run(f, a, source=source, target=target):
            code = between(source, target)(f, a)
            return F32.encode(F32.flushed(F32.decode(code))) if f.has("ftz") and target == "f32" else code
        arch = "sm_90a" if newer or "satfinite" in pattern else "sm_80"
        g.case(pattern + " d, a;", KIND[target], run, arch=arch)
for ty in ("f16", "f32", "f64", "bf16"):
    g = Group("convert", {"a": (KIND[ty], number(ty))}, arch="sm_90a" if ty == "bf16" else "sm_80")
    def integral(f, a, fmt=FLOATS[ty]):
        x = fmt.decode(a)
        x = fmt.flushed(x) if f.has("ftz") else x
        if x[1] == INF:
            return a
        code = int(x[1])
        code += floats.rounds_up(x[0], code, x[1] - code, {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}[f.modifiers[0]])
        return fmt.encode((x[0], Fraction(code)))
    g.case(f"cvt.{{rni,rzi,rmi,rpi}}{'{,.ftz}' if ty == 'f32' else ''}.{ty}.{ty} d, a;", KIND[ty], integral)

# Narrow formats, two numbers in one register: the first operand goes to the upper half.
NARROW = {"e4m3": E4M3, "e5m2": E5M2, "e2m3": E2M3, "e3m2": E3M2, "e2m1": E2M1}
close = [0x3E800000, 0x3E800001, 0x3F400000, 0x3FA00000, 0x40200000, 0x40A00001, 0x40C00000, 0x40E00000, 0xC0F00000, 0xBE000000,
         0x43E00000, 0x43E80001, 0x47600000, 0x3B000000, 0x3A800000, 0x37000001, 0x41E00001, 0x3DE00000]
singles = close + V32
g = Group("convert", {"a": ("b32", turned(singles, 1, 0)), "b": ("b32", turned(singles, 5, 7))}, arch="sm_120a")


def relu(f, x):
    return (0, Fraction(0)) if f.has("relu") and x[0] and x[1] != NAN else x


def code_of(fmt, f, x):
    """of NaN: the canonical one, or the largest number where there is none"""
    return fmt.encode(relu(f, x), f.rounding, finite=f.has("satfinite"))


for ty, fmt in NARROW.items():
    size = 4 if ty == "e2m1" else 8
    kind = "b8" if size == 4 else "b16"
    g.case(f"cvt.rn.satfinite{{,.relu}}.{ty}x2.f32 d, a, b;", kind, lambda f, a, b, fmt=fmt, size=size: code_of(fmt, f, F32.decode(a)) << size | code_of(fmt, f, F32.decode(b)))
for ty, fmt in (("f16", F16), ("bf16", BF16)):
    g.case(f"cvt.{{rn,rz}}{{,.relu}}{{,.satfinite}}.{ty}x2.f32 d, a, b;", "b32", lambda f, a, b, fmt=fmt: code_of(fmt, f, F32.decode(a)) << 16 | code_of(fmt, f, F32.decode(b)))
tf32 = lambda f, a, b: floats.Format(8, 10).encode(relu(f, F32.decode(a)), f.rounding, finite=f.has("satfinite")) << 13
finite = [x for x in singles if F32.decode(x)[1] != NAN]
t = Group("convert", {"a": ("b32", finite), "b": ("b32", finite)}, arch="sm_120a")
t.case("cvt.rna{,.satfinite}.tf32.f32 d, a;", "b32", tf32)
t.case("cvt.{rn,rz}{,.relu}.tf32.f32 d, a;", "b32", tf32)


def scale(f, x):
    """9.7.9.21: a power of two, its sign ignored"""
    if x[1] == NAN:
        return 255
    if x[1] == INF:
        return 254
    code = 0
    while code < 254 and Fraction(2) ** (code + 1 - 127) <= x[1]:
        code += 1
    return code + (f.has("rp") and x[1] > Fraction(2) ** (code - 127))


scales = [x for x in singles if F32.decode(x)[1] not in (NAN, INF)]
u = Group("convert", {"a": ("b32", turned(scales, 1, 0)), "b": ("b32", turned(scales, 5, 7))}, arch="sm_120a")
u.case("cvt.{rz,rp}.satfinite.ue8m0x2.f32 d, a, b;", "b16", lambda f, a, b: min(254, scale(f, F32.decode(a))) << 8 | min(254, scale(f, F32.decode(b))))
halves = [V16[(k * 5 + 2) % len(V16)] << 16 | V16[k % len(V16)] for k in range(32)]
h = Group("convert", {"a": ("b32", halves)}, arch="sm_120a")
for ty in ("e4m3", "e5m2"):
    h.case(f"cvt.rn.satfinite{{,.relu}}.{ty}x2.f16x2 d, a;", "b16", lambda f, a, fmt=NARROW[ty]: code_of(fmt, f, F16.decode(a >> 16)) << 8 | code_of(fmt, f, F16.decode(a & 0xFFFF)))
every = [k * 8191 + 37 & 0xFFFF for k in range(32)]
n = Group("convert", {"a": ("b16", every)}, arch="sm_120a")
for ty in ("e4m3", "e5m2"):
    # NaN and infinity of E5M2 are codes above its largest number.
    def widened(f, a, ty=ty):
        fmt = floats.Format(5, 2) if ty == "e5m2" else E4M3
        return sum(F16.encode(relu(f, fmt.decode(a >> s & 0xFF))) << 2 * s for s in (0, 8))
    n.case(f"cvt.rn{{,.relu}}.f16x2.{ty}x2 d, a;", "b32", widened)
n.case("cvt.rn.bf16x2.ue8m0x2 d, a;", "b32", lambda f, a: sum((0x7FFF if a >> s & 255 == 255 else BF16.encode((0, Fraction(2) ** ((a >> s & 255) - 127)))) << 2 * s for s in (0, 8)))
six = Group("convert", {"a": ("b16", [(k * 37 & 63) << 8 | k * 11 & 63 for k in range(32)])}, arch="sm_120a")
for ty in ("e2m3", "e3m2"):
    six.case(f"cvt.rn{{,.relu}}.f16x2.{ty}x2 d, a;", "b32", lambda f, a, fmt=NARROW[ty]: sum(F16.encode(relu(f, fmt.decode(a >> s & 63))) << 2 * s for s in (0, 8)))
four = Group("convert", {"a": ("b8", [k * 37 & 255 for k in range(32)])}, arch="sm_120a")
four.case("cvt.rn{,.relu}.f16x2.e2m1x2 d, a;", "b32", lambda f, a: sum(F16.encode(relu(f, E2M1.decode(a >> s & 15))) << 4 * s for s in (0, 4)))

# With random bits: added to what rounding towards zero cuts off; a carry goes away from zero.
normal = [0x3F800001, 0x3F9FFFFF, 0xBFC12345, 0x40400000, 0x3FB33333, 0xC0A00000, 0x40C00000, 0x43000000, 0x7F800000, 0x7FC00000, 0, 0x80000000]
bits = [0, 0xFFFFFFFF, 0x12345678, 0x80000000, 0x00008000, 0xDEADBEEF, 0x00FF00FF]
ops = {name: ("b32", turned(normal, step, first)) for name, step, first in (("a", 1, 0), ("b", 5, 3), ("e", 7, 1), ("f", 11, 8))}
r = Group("convert", {**ops, "r": ("b32", bits)}, arch="sm_100a")


def random_code(fmt, f, a, bits, width):
    x = relu(f, F32.decode(a))
    if x[1] in (NAN, INF, 0):
        return fmt.encode(x, "rz", finite=f.has("satfinite"))
    place = fmt.least
    while x[1] >= Fraction(2) ** (place + fmt.mantissa + 1):
        place += 1
    moved = x[1] / Fraction(2) ** place + Fraction(bits & (1 << width) - 1, 1 << width)
    return fmt.encode((x[0], Fraction(int(moved)) * Fraction(2) ** place), "rn", finite=f.has("satfinite"))


for ty, fmt, width in (("f16", F16, 13), ("bf16", BF16, 16)):
    r.case(f"cvt.rs{{,.relu}}{{,.satfinite}}.{ty}x2.f32 d, a, b, r;", "b32", lambda f, a, b, e, g, r, fmt=fmt, width=width: random_code(fmt, f, a, r >> 16, width) << 16 | random_code(fmt, f, b, r, width))
for ty, fmt in NARROW.items():
    size = 4 if ty == "e2m1" else 8
    def quad(f, a, b, e, g, r, fmt=fmt, size=size):
        use = [r >> s for s in ((24, 8, 16, 0) if size == 4 else (16, 16, 0, 0))]
        out = 0
        for x, random in zip((a, b, e, g), use):
            out = out << size | random_code(fmt, f, x, random, 8 if size == 4 else 16)
        return out
    r.case(f"cvt.rs{{,.relu}}.satfinite.{ty}x4.f32 d, <a, b, e, f>, r;", "b16" if size == 4 else "b32", quad)
