"""Arithmetic, comparisons and approximations of floating-point numbers (PTX ISA 9.7.3 to 9.7.7)."""
import math
from fractions import Fraction

import floats
from expected import Group
from floats import BF16, F16, F32, F64, INF, NAN, Format

V32 = [0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x3F800001, 0x40490FDB, 0x7F7FFFFF,
       0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3EAAAAAB, 0xC2F6E979, 0x33000000, 0x4B800001, 0x5F3759DF]
V64 = [0, 1 << 63, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x3FF0000000000000, 0xBFF0000000000001, 0x400921FB54442D18,
       0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x3FD5555555555555,
       0xC05EDCCCCCCCCCCD, 0x3CA0000000000000, 0x4340000000000001, 0x36A0000000000000]
V16 = [0, 0x8000, 1, 0x83FF, 0x0400, 0x3C00, 0xBC00, 0x3C01, 0x4248, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x3555, 0xD7B0, 0x1000]
VB16 = [0, 0x8000, 1, 0x807F, 0x0080, 0x3F80, 0xBF80, 0x3F81, 0x4049, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0x3EAB, 0xC2F7, 0x3300]


def turned(values, step, first):
    return [values[(k * step + first) % len(values)] for k in range(32)]


def three(values, kind):
    return {"a": (kind, turned(values, 1, 0)), "b": (kind, turned(values, 4, 3)), "c": (kind, turned(values, 7, 5))}


def rounded(fmt, f, result):
    """a result in the form's rounding, flushed and clamped"""
    if f.has("ftz"):
        # What is tiny after rounding is flushed; rounding first, so that what rounds up to normal stays.
        result = fmt.flushed(fmt.decode(fmt.encode(result, f.rounding)))
    if f.has("sat"):
        result = floats.saturated(result)
    if f.has("relu") and result[0] and result[1] != NAN:
        result = 0, Fraction(0)
    return fmt.encode(result, f.rounding)


def on(fmt, op):
    """`op` of the form and of decoded operands"""
    def run(f, *codes):
        xs = [fmt.decode(code) for code in codes]
        xs = [fmt.flushed(x) for x in xs] if f.has("ftz") else xs
        return rounded(fmt, f, op(f, *xs))
    return run


def packed(fmt, op):
    one = on(fmt, op)
    cut = (1 << fmt.bits) - 1
    return lambda f, *xs: sum(one(f, *(x >> s & cut for x in xs)) << s for s in (0, fmt.bits))


OPERATIONS = {
    "add": lambda f, a, b, c: floats.add(a, b, f.rounding),
    "sub": lambda f, a, b, c: floats.add(a, floats.negative(b), f.rounding),
    "mul": lambda f, a, b, c: floats.mul(a, b),
    "fma": lambda f, a, b, c: floats.fma(a, b, c, f.rounding),
    "mad": lambda f, a, b, c: floats.fma(a, b, c, f.rounding),
    "div": lambda f, a, b, c: floats.div(a, b),
    "rcp": lambda f, a, b, c: floats.div((0, Fraction(1)), a),
    "sqrt": lambda f, a, b, c: floats.sqrt(a),
}
RND, RND_OR_NOT = "{.rn,.rz,.rm,.rp}", "{.rn,.rz,.rm,.rp,}"


def extremum(f, a, b, c=None):
    larger = f.text.startswith("max")
    sign = a[0] ^ b[0]
    if f.has("abs"):
        a, b = (0, a[1]), (0, b[1])
    if c is not None:
        c = (0, c[1]) if f.has("abs") else c
        a = floats.extremum(a, b, larger, f.has("NaN"))
        return floats.extremum(a, c, larger, f.has("NaN"))
    out = floats.extremum(a, b, larger, f.has("NaN"))
    return (sign, out[1]) if f.has("xorsign") and out[1] != NAN else out


def bits_of_sign(fmt, name):
    """`neg` and `abs`: of codes; a NaN is the canonical one, as on an H200 (the manual does not say)"""
    def one(f, a, *_):
        x = fmt.decode(a)
        if x[1] == NAN:
            return fmt.nan
        a = a & 1 << fmt.bits - 1 if f.has("ftz") and fmt.flushed(x) != x else a
        return a ^ 1 << fmt.bits - 1 if name == "neg" else a & (1 << fmt.bits - 1) - 1
    return one


g = Group("float", three(V32, "b32"))
for name in ("add", "sub", "mul"):
    g.case(name + RND_OR_NOT + "{,.ftz}{,.sat}.f32 d, a, b;", "b32", on(F32, OPERATIONS[name]))
for name in ("fma", "mad"):
    g.case(name + RND + "{,.ftz}{,.sat}.f32 d, a, b, c;", "b32", on(F32, OPERATIONS[name]))
g.case("div" + RND + "{,.ftz}.f32 d, a, b;", "b32", on(F32, OPERATIONS["div"]))
g.case("{rcp,sqrt}" + RND + "{,.ftz}.f32 d, a;", "b32", on(F32, lambda f, *x: OPERATIONS["rcp" if f.text[0] == "r" else "sqrt"](f, *x)))
for sign, arch in (("", "sm_80"), (".xorsign.abs", "sm_90a")):
    g.case("{min,max}{,.ftz}{,.NaN}" + sign + ".f32 d, a, b;", "b32", on(F32, lambda f, a, b, c: extremum(f, a, b)), arch=arch)
g.case("{min,max}{,.ftz}{,.NaN}{,.abs}.f32 d, a, b, c;", "b32", on(F32, extremum), arch="sm_100a")
g.case("copysign.f32 d, a, b;", "b32", lambda f, a, b, c: a & 1 << 31 | b & (1 << 31) - 1)
normal = lambda fmt, x: x[1] not in (INF, NAN) and fmt.flushed(x) == x
TESTS = {"finite": lambda fmt, x: x[1] not in (INF, NAN), "infinite": lambda fmt, x: x[1] == INF, "number": lambda fmt, x: x[1] != NAN,
         "notanumber": lambda fmt, x: x[1] == NAN, "normal": normal,
         "subnormal": lambda fmt, x: x[1] not in (INF, NAN, 0) and fmt.flushed(x) != x}
g.case("testp.{finite,infinite,number,notanumber,normal,subnormal}.f32 p, a;", "p:pred", lambda f, a, b, c: TESTS[f.modifiers[0]](F32, F32.decode(a)))
g = Group("float", three(V32, "b32"))
g.case("neg{,.ftz}.f32 d, a;", "b32", bits_of_sign(F32, "neg"))
g.case("abs{,.ftz}.f32 d, a;", "b32", bits_of_sign(F32, "abs"))

# The manual does not say what a double's NaN is; an H200 was asked. It is one of the operands, the
# first that is NaN in the order given here, with its sign and payload, made quiet; where none is, a
# negative one.
def double(op, order):
    def run(f, *codes):
        code = on(F64, op)(f, *codes)
        if F64.decode(code)[1] != NAN:
            return code
        nans = [codes[i] for i in order if F64.decode(codes[i])[1] == NAN]
        return nans[0] | 1 << 51 if nans else 0xFFF8 << 48
    return run


NANS = [0x7FF0000000000001, 0xFFF8000000000005, 0x7FF8123456789ABC]
g = Group("float", three(V64 + NANS, "b64"))
for name in ("add", "sub", "mul"):
    g.case(name + RND_OR_NOT + ".f64 d, a, b;", "b64", double(OPERATIONS[name], (1, 0)))
g.case("{fma,mad}" + RND + ".f64 d, a, b, c;", "b64", double(OPERATIONS["fma"], (1, 2, 0)))
g.case("div" + RND + ".f64 d, a, b;", "b64", double(OPERATIONS["div"], (0, 1)))
g.case("{rcp,sqrt}" + RND + ".f64 d, a;", "b64", double(lambda f, *x: OPERATIONS["rcp" if f.text[0] == "r" else "sqrt"](f, *x), (0,)))
g.case("{neg,abs}.f64 d, a;", "b64", lambda f, a, b, c: a | 1 << 51 if F64.decode(a)[1] == NAN else a ^ 1 << 63 if f.text[0] == "n" else a & (1 << 63) - 1)
g.case("{min,max}.f64 d, a, b;", "b64", double(lambda f, a, b, c: extremum(f, a, b), (1, 0)))
g.case("copysign.f64 d, a, b;", "b64", lambda f, a, b, c: a & 1 << 63 | b & (1 << 63) - 1)
g.case("testp.{finite,infinite,number,notanumber,normal,subnormal}.f64 p, a;", "p:pred", lambda f, a, b, c: TESTS[f.modifiers[0]](F64, F64.decode(a)))

pairs = lambda values: [values[(k * 5 + 2) % len(values)] << 32 | values[k % len(values)] for k in range(32)]
g = Group("float", three(pairs(V32), "b64"), arch="sm_100a")
for name in ("add", "sub", "mul"):
    g.case(name + "{.rn,.rm,}{,.ftz}.f32x2 d, a, b;", "b64", packed(F32, OPERATIONS[name]))
g.case("fma{.rn,.rz,.rp}{,.ftz}.f32x2 d, a, b, c;", "b64", packed(F32, OPERATIONS["fma"]))

for fmt, ty, values in ((F16, "f16", V16), (BF16, "bf16", VB16)):
    is_f16 = ty == "f16"
    two = [values[(k * 5 + 2) % len(values)] << 16 | values[k % len(values)] for k in range(32)]
    arch = "sm_80" if is_f16 else "sm_90a"
    for suffix, kind, vs, lift in (("", "b16", values, on), ("x2", "b32", two, packed)):
        g = Group("half", three(vs, kind), arch=arch)
        extra = "{,.ftz}{,.sat}" if is_f16 else ""
        for name in ("add", "sub", "mul"):
            g.case(f"{name}{{.rn,}}{extra}.{ty}{suffix} d, a, b;", kind, lift(fmt, OPERATIONS[name]))
        ends = "{,.ftz}{,.sat,.relu}" if is_f16 else "{,.relu}"
        g.case(f"fma.rn{ends}.{ty}{suffix} d, a, b, c;", kind, lift(fmt, OPERATIONS["fma"]))
        # Of two f16 an H200 turns the signs without a look at them.
        signs = (lambda fmt, name: lambda f, *codes: sum(bits_of_sign(fmt, name)(f, codes[0] >> s & 0xFFFF) << s for s in (0, 16))) if suffix else bits_of_sign
        blind = lambda fmt, name: lambda f, a, *_: a ^ 0x80008000 if name == "neg" else a & 0x7FFF7FFF
        for name in ("neg", "abs"):
            g.case(f"{name}.{ty}{suffix} d, a;", kind, (blind if is_f16 and suffix else signs)(fmt, name))
        ends = "{,.ftz}" if is_f16 else ""
        for sign, needs in (("", arch), (".xorsign.abs", "sm_90a")):
            g.case(f"{{min,max}}{ends}{{,.NaN}}{sign}.{ty}{suffix} d, a, b;", kind, lift(fmt, lambda f, a, b, c: extremum(f, a, b)), arch=needs)
    g = Group("half", {"a": ("b16", values), "b": ("b16", turned(values, 4, 3)), "c": ("b32", V32)}, arch="sm_100a")
    def mixed(f, a, b, c, fmt=fmt):
        a, b, c = fmt.decode(a), fmt.decode(b), F32.decode(c)
        if f.text.startswith("fma"):
            return rounded(F32, f, floats.fma(a, b, c, f.rounding))
        return rounded(F32, f, floats.add(a, floats.negative(c) if f.text[0] == "s" else c, f.rounding))
    g.case(f"{{add,sub}}{RND_OR_NOT}{{,.sat}}.f32.{ty} d, a, c;", "b32", mixed)
    g.case(f"fma{RND}{{,.sat}}.f32.{ty} d, a, b, c;", "b32", mixed)

# Comparisons.
ORDERED = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
           "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}
ALL = "{" + ",".join([*ORDERED, *(name + "u" for name in ORDERED), "num", "nan"]) + "}"


def holds(fmt, f, a, b):
    a, b = fmt.decode(a), fmt.decode(b)
    if f.has("ftz"):
        a, b = fmt.flushed(a), fmt.flushed(b)
    name, unordered = f.modifiers[0], NAN in (a[1], b[1])
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    if unordered:
        return name.endswith("u")
    a, b = floats.rank(a)[0], floats.rank(b)[0]
    return ORDERED[name.removesuffix("u")](a, b)


BOOLEAN = {"and": lambda x, y: x and y, "or": lambda x, y: x or y, "xor": lambda x, y: bool(x) != bool(y)}
for fmt, ty, kind, values, arch in ((F32, "f32", "b32", V32, "sm_80"), (F64, "f64", "b64", V64, "sm_80"), (F16, "f16", "b16", V16, "sm_80"), (BF16, "bf16", "b16", VB16, "sm_90a")):
    inputs = three(values, kind)
    inputs["c"] = ("pred", [0, 1, 1, 0, 1])
    g = Group("compare", inputs, arch=arch)
    flush = "{,.ftz}" if ty in ("f32", "f16") else ""
    g.case(f"setp.{ALL}{flush}.{ty} p, a, b;", "p:pred", lambda f, a, b, c, fmt=fmt: holds(fmt, f, a, b))
    if ty in ("f32", "f64"):
        g.case(f"setp.{{lt,neu}}.{{and,or,xor}}.{ty} p|q, a, b, !c;", "p:pred q:pred", lambda f, a, b, c, fmt=fmt: (
            BOOLEAN[f.modifiers[1]](holds(fmt, f, a, b), not c), BOOLEAN[f.modifiers[1]](not holds(fmt, f, a, b), not c)))
    one = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}
    for dtype in ("u32", "f32") if ty in ("f32", "f64") else ("u16", "s32", "f16") if ty == "f16" else ("u16", "s32", "bf16"):
        out = "b16" if "16" in dtype else "b32"
        g.case(f"set.{{eq,ltu}}.{dtype}.{ty} d, a, b;", out, lambda f, a, b, c, fmt=fmt, dtype=dtype: one.get(dtype, -1) if holds(fmt, f, a, b) else 0)
        g.case(f"set.gt.xor.{dtype}.{ty} d, a, b, c;", out, lambda f, a, b, c, fmt=fmt, dtype=dtype: one.get(dtype, -1) if holds(fmt, f, a, b) != bool(c) else 0)
    if kind == "b16":
        wide = lambda values: [values[(k * 5 + 2) % len(values)] << 16 | values[k % len(values)] for k in range(32)]
        inputs = three(wide(values), "b32")
        inputs["c"] = ("pred", [0, 1, 1, 0, 1])
        g = Group("compare", inputs, arch=arch)
        both = lambda f, a, b, fmt=fmt: tuple(holds(fmt, f, a >> s & 0xFFFF, b >> s & 0xFFFF) for s in (0, 16))
        g.case(f"setp.{{eq,ne,ge,ltu,nan}}{flush}.{ty}x2 p|q, a, b;", "p:pred q:pred", lambda f, a, b, c, both=both: both(f, a, b))
        g.case(f"setp.lt.{{and,or,xor}}.{ty}x2 p|q, a, b, c;", "p:pred q:pred", lambda f, a, b, c, both=both: tuple(BOOLEAN[f.modifiers[1]](x, c) for x in both(f, a, b)))
        for dtype, yes in (("u32", 0xFFFF), (f"{ty}x2", one[ty])):
            g.case(f"set.{{le,neu}}.{dtype}.{ty}x2 d, a, b;", "b32", lambda f, a, b, c, both=both, yes=yes: sum(yes * x << s for x, s in zip(both(f, a, b), (0, 16))))

# Approximations: the nearest number, and how far off the manual lets the hardware be.
def near(fmt, g):
    def run(f, a, *_):
        x = fmt.decode(a)
        x = fmt.flushed(x) if f.has("ftz") else x
        if x[1] == NAN:
            return fmt.nan
        y = g(math.copysign(math.inf if x[1] == INF else float(x[1]), -1 if x[0] else 1))
        result = (0, NAN) if math.isnan(y) else (int(math.copysign(1, y) < 0), INF if math.isinf(y) else abs(Fraction(y)))
        return rounded(fmt, f, result)
    return run


def guarded(g):
    def run(x):
        try:
            return g(x)
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan
    return run


smooth = [0x3F800000, 0xBF800000, 0x40490FDB, 0x3EAAAAAB, 0xC0A00000, 0x3F000000, 0x3DCCCCCD, 0x40C90FDB, 0, 0x80000000, 0x41200000]
g = Group("approximate", {"a": ("b32", smooth), "b": ("b32", turned(smooth[:8], 3, 1))})
exp2 = guarded(lambda x: 2.0 ** x)
g.case("ex2.approx{,.ftz}.f32 d, a;", "b32", near(F32, exp2), ulps=2)
g.case("tanh.approx.f32 d, a;", "b32", near(F32, math.tanh), ulps=1 << 13)
g.case("div.full{,.ftz}.f32 d, a, b;", "b32", on(F32, lambda f, a, b: floats.div(a, b)), ulps=2)
g.case("div.approx{,.ftz}.f32 d, a, b;", "b32", on(F32, lambda f, a, b: floats.div(a, b)), ulps=2)
# An absolute bound of 2^-20.5: 2^7 units where the result is above 1/16.
angles = Group("approximate", {"a": ("b32", [0x3F800000, 0xBF800000, 0x3EAAAAAB, 0x3F000000, 0x3DCCCCCD, 0x40000000])})
angles.case("sin.approx{,.ftz}.f32 d, a;", "b32", near(F32, math.sin), ulps=128)
angles.case("cos.approx{,.ftz}.f32 d, a;", "b32", near(F32, math.cos), ulps=128)
positive = [0x3F800000, 0x40490FDB, 0x3EAAAAAB, 0x3F000000, 0x3DCCCCCD, 0x41200000, 0x7F800000, 0x00800000, 0x5F3759DF]
g = Group("approximate", {"a": ("b32", positive), "b": ("b32", positive)})
g.case("lg2.approx{,.ftz}.f32 d, a;", "b32", near(F32, lambda x: math.log2(x)), ulps=4)
g.case("rcp.approx{,.ftz}.f32 d, a;", "b32", near(F32, lambda x: 1 / x), ulps=1)
g.case("sqrt.approx{,.ftz}.f32 d, a;", "b32", near(F32, math.sqrt), ulps=2)
g.case("rsqrt.approx{,.ftz}.f32 d, a;", "b32", near(F32, lambda x: 1 / math.sqrt(x)), ulps=2)


def rsqrt(x):
    """1/√x, to some 190 bits"""
    if x <= 0 or math.isinf(x):
        return math.nan if x < 0 else 0.0 if x else math.copysign(math.inf, x)
    inverse = 1 / Fraction(x)
    return Fraction(math.isqrt((inverse.numerator << 1400) // inverse.denominator), 1 << 700)


def upper(g):
    """`g` of the upper half of a double, subnormals flushed: of the result, too, only that half counts"""
    def run(f, a, *_):
        return near(F64, g)(f, a >> 32 << 32) >> 32 << 32
    return run


wide = [0x3FF0000000000000, 0x4000000000000000, 0x400921FB54442D18, 0x3FD5555555555555, 0x7FEFFFFFFFFFFFFF, 0x0010000000000000, 0x36A0000000000001, 0, 0x7FF0000000000000, 0x3FEFFFFFFFFFFFFF, 0x4340000000000001, 0x1234567812345678]
g = Group("approximate", {"a": ("b64", wide + [1, 0x000FFFFFFFFFFFFF, 0x8000000000000000])})
g.case("rsqrt.approx.f64 d, a;", "b64", near(F64, rsqrt), ulps=1)
g.case("rsqrt.approx.ftz.f64 d, a;", "b64", upper(rsqrt), ulps="1x32")
g.case("rcp.approx.ftz.f64 d, a;", "b64", upper(lambda x: 1 / Fraction(x) if x and not math.isinf(x) else 0.0 if x else math.copysign(math.inf, x)), ulps="1x32")
for fmt, ty, values in ((F16, "f16", [0x3C00, 0xBC00, 0x3555, 0x4248, 0xC500, 0, 0x3800]), (BF16, "bf16", [0x3F80, 0xBF80, 0x3EAB, 0x4049, 0xC0A0, 0, 0x3F00])):
    arch = "sm_80" if ty == "f16" else "sm_90a"
    flush = "" if ty == "f16" else ".ftz"
    two = [values[(k * 3 + 1) % len(values)] << 16 | values[k % len(values)] for k in range(32)]
    for suffix, kind, vs in (("", "b16", values), ("x2", "b32", two)):
        g = Group("approximate", {"a": (kind, vs)}, arch=arch)
        lift = (lambda fmt, h: near(fmt, h)) if not suffix else (lambda fmt, h: lambda f, a: sum(near(fmt, h)(f, a >> s & 0xFFFF) << s for s in (0, 16)))
        for text, function in ((f"ex2.approx{flush}.{ty}{suffix}", exp2), (f"tanh.approx.{ty}{suffix}", math.tanh)):
            g.case(f"{text} d, a;", kind, lift(fmt, function), ulps="2x16")
