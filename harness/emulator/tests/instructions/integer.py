"""Whole numbers, bits, carries, video instructions (PTX ISA 9.7.1, 9.7.2, 9.7.8, 9.7.18)."""
from expected import Group, signed

W32 = [0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF, 0x8000, 0x12345678, 0xDEADBEEF,
       0xFFFFFF80, 0x00FF00FF, 0x80018001, 7, 0x0F0F0F0F, 0xFFFFFFFE]
W64 = [x << 32 | y for x, y in zip(W32, W32[5:] + W32[:5])]
W16 = [x & 0xFFFF for x in W32]


def three(values, kind, shift=(0, 7, 3)):
    """operands a, b and c that meet in many pairs"""
    turn = lambda n: [values[(k * (1 + n % 3) + n) % len(values)] for k in range(32)]
    return {name: (kind, turn(n)) for name, n in zip("abc", shift)}


def typed(f):
    """the operands as signed numbers where the type is"""
    return lambda form, *xs: f(form, *(signed(x, form.bits()) if form.signed else x for x in xs))


def clamped(x, bits, is_signed=True):
    least = -(1 << bits - 1) if is_signed else 0
    return max(least, min(x, least + (1 << bits) - 1))


def quotient(form, a, b, c):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def field(form, a, b, c):
    """9.7.1.19, by the manual's own loop"""
    bits, pos, length = form.bits(), b & 0xFF, c & 0xFF
    sign = form.signed and length and a >> min(pos + length - 1, bits - 1) & 1
    at = lambda i: a >> pos + i & 1 if i < length and pos + i < bits else sign
    return sum(at(i) << i for i in range(bits))


def nth(form, mask, base, n):
    base, n = base & 31, signed(n, 32)
    if n == 0:
        return base if mask >> base & 1 else -1
    order = range(base, 32) if n > 0 else range(base, -1, -1)
    found = [i for i in order if mask >> i & 1]
    return found[abs(n) - 1] if abs(n) <= len(found) else -1


def dot(form, a, b, c):
    take = lambda x, i, bits, ty: signed(x >> i * bits, bits) if ty == "s32" else x >> i * bits & (1 << bits) - 1
    a_type, b_type = form.modifiers[-2:]
    if form.text.startswith("dp4a"):
        return c + sum(take(a, i, 8, a_type) * take(b, i, 8, b_type) for i in range(4))
    return c + sum(take(a, i, 16, a_type) * take(b, i + 2 * form.has("hi"), 8, b_type) for i in range(2))


MODES = {"f4e": ["3210", "4321", "5432", "6543"], "b4e": ["5670", "6701", "7012", "0123"],
         "rc8": ["0000", "1111", "2222", "3333"], "ecl": ["3210", "3211", "3222", "3333"],
         "ecr": ["0000", "1110", "2210", "3210"], "rc16": ["1010", "3232", "1010", "3232"]}


def permute(form, a, b, c):
    selector = int(MODES[form.modifiers[-1]][c & 3], 16) if form.modifiers[-1] in MODES else c
    out = 0
    for i in range(4):
        byte = (b << 32 | a) >> 8 * (selector >> 4 * i & 7) & 0xFF
        out |= (255 * (byte >> 7) if selector >> 4 * i & 8 else byte) << 8 * i
    return out


def looked_up(table):
    return lambda a, b, c: sum((table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32))


def extended(form, a, b, c):
    n = min(b, 32) if form.has("clamp") else b & 31
    return (signed(a, n) if form.signed else a & (1 << n) - 1) if n else 0


def arithmetic(group, types, out, wide=None):
    T = "{" + types + "}"
    case = group.case
    case(f"add.{T} d, a, b;", out, lambda f, a, b, c: a + b)
    case(f"sub.{T} d, a, b;", out, lambda f, a, b, c: a - b)
    case(f"mul.lo.{T} d, a, b;", out, lambda f, a, b, c: a * b)
    case(f"mul.hi.{T} d, a, b;", out, typed(lambda f, a, b, c: a * b >> f.bits()))
    case(f"mad.lo.{T} d, a, b, c;", out, lambda f, a, b, c: a * b + c)
    case(f"mad.hi.{T} d, a, b, c;", out, typed(lambda f, a, b, c: (a * b >> f.bits()) + c))
    case(f"sad.{T} d, a, b, c;", out, typed(lambda f, a, b, c: abs(a - b) + c))
    case(f"min.{T} d, a, b;", out, typed(lambda f, a, b, c: min(a, b)))
    case(f"max.{T} d, a, b;", out, typed(lambda f, a, b, c: max(a, b)))
    S = "s" + types.split(",s")[1]
    case(f"abs.{S} d, a;", out, typed(lambda f, a, b, c: abs(a)))
    case(f"neg.{S} d, a;", out, lambda f, a, b, c: -a)
    for name, op in {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}.items():
        case(f"{name}.{out} d, a, b;", out, lambda f, a, b, c, op=op: op(a, b))
    case(f"not.{out} d, a;", out, lambda f, a, b, c: ~a)
    case(f"cnot.{out} d, a;", out, lambda f, a, b, c: a == 0)
    if wide:
        case(f"mul.wide.{T} d, a, b;", wide, typed(lambda f, a, b, c: a * b))


for kind, types, values, wide in [("b16", "u16,s16", W16, "b32"), ("b32", "u32,s32", W32, "b64"), ("b64", "u64,s64", W64, None)]:
    g = Group("integer", three(values, kind))
    arithmetic(g, types, kind, wide)
    divisors = [x or 3 for x in values]
    g = Group("integer", {"a": (kind, values), "b": (kind, divisors[5:] + divisors[:5]), "c": (kind, values)})
    g.case("div.{%s} d, a, b;" % types, kind, typed(quotient))
    g.case("rem.{%s} d, a, b;" % types, kind, typed(lambda f, a, b, c: a - b * quotient(f, a, b, c)))
    # By zero the manual leaves it open; an H200 gives all ones.
    by_zero = Group("integer", {"a": (kind, values), "b": (kind, [0])})
    by_zero.case("{div,rem}.{%s} d, a, b;" % types, kind, lambda f, a, b: -1)
    g = Group("integer", {"a": (kind, values), "b": ("b32", [0, 1, 15, 16, 31, 32, 33, 63, 64, 255, 4, 0xFFFFFFFF]), "c": ("b32", [0])})
    bits = int(kind[1:])
    g.case(f"shl.{kind} d, a, b;", kind, lambda f, a, b, c: a << min(b, 64))
    g.case("shr.{%s,%s} d, a, b;" % (kind, types), kind, lambda f, a, b, c: (signed(a, f.bits()) if f.signed else a) >> min(b, 64))
g = Group("integer", three(W32, "b32"))
case = g.case
case("{add,sub}.sat.s32 d, a, b;", "b32", typed(lambda f, a, b, c: clamped(a + b if f.text[0] == "a" else a - b, 32)))
case("mad.hi.sat.s32 d, a, b, c;", "b32", typed(lambda f, a, b, c: clamped((a * b >> 32) + c, 32)))
case("{min,max}.relu.s32 d, a, b;", "b32", typed(lambda f, a, b, c: max(0, (min if f.text[1] == "i" else max)(a, b))), arch="sm_90a")
two = lambda op: lambda f, a, b, c: sum((op(x, y) & 0xFFFF) << 16 * i for i, (x, y) in enumerate(zip(*(
    [signed(v >> s, 16) if f.modifiers[-1][0] == "s" else v >> s & 0xFFFF for s in (0, 16)] for v in (a, b)))))
case("add.{u16x2,s16x2} d, a, b;", "b32", two(lambda x, y: x + y), arch="sm_90a")
case("min.{u16x2,s16x2} d, a, b;", "b32", two(min), arch="sm_90a")
case("max.{u16x2,s16x2} d, a, b;", "b32", two(max), arch="sm_90a")
case("max.relu.s16x2 d, a, b;", "b32", two(lambda x, y: max(x, y, 0)), arch="sm_90a")
low = lambda f, x: signed(x, 24) if f.signed else x & 0xFFFFFF
case("mul24.lo.{u32,s32} d, a, b;", "b32", lambda f, a, b, c: low(f, a) * low(f, b))
case("mul24.hi.{u32,s32} d, a, b;", "b32", lambda f, a, b, c: low(f, a) * low(f, b) >> 16)
case("mad24.lo.{u32,s32} d, a, b, c;", "b32", lambda f, a, b, c: low(f, a) * low(f, b) + c)
case("mad24.hi.{u32,s32} d, a, b, c;", "b32", lambda f, a, b, c: (low(f, a) * low(f, b) >> 16) + c)
case("mad24.hi.sat.s32 d, a, b, c;", "b32", lambda f, a, b, c: clamped((low(f, a) * low(f, b) >> 16) + signed(c, 32), 32))
case("bfe.{u32,s32} d, a, b, c;", "b32", field)
case("bfi.b32 d, a, b, 5, 9;", "b32", lambda f, a, b, c: b & ~(511 << 5) | (a & 511) << 5)
case("bfi.b32 d, a, b, 27, 40;", "b32", lambda f, a, b, c: b & ~(31 << 27) | a << 27)
case("bmsk.{clamp,wrap}.b32 d, a, b;", "b32", lambda f, a, b, c: ((1 << (min(b, 32) if f.has("clamp") else b & 31)) - 1) << (min(a, 32) if f.has("clamp") else a & 31))
case("szext.{clamp,wrap}.{u32,s32} d, a, b;", "b32", extended)
case("popc.b32 d, a;", "b32", lambda f, a, b, c: bin(a).count("1"))
case("clz.b32 d, a;", "b32", lambda f, a, b, c: 32 - a.bit_length())
case("brev.b32 d, a;", "b32", lambda f, a, b, c: int(f"{a:032b}"[::-1], 2))
top = lambda f, a: (lambda m: -1 if m == 0 else f.bits() - m.bit_length() if f.has("shiftamt") else m.bit_length() - 1)(~a if a < 0 else a)
case("bfind{,.shiftamt}.{u32,s32} d, a;", "b32", typed(lambda f, a, b, c: top(f, a)))
case("dp4a.{u32,s32}.{u32,s32} d, a, b, c;", "b32", dot)
case("dp2a.{lo,hi}.{u32,s32}.{u32,s32} d, a, b, c;", "b32", dot)
case("prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} d, a, b, c;", "b32", permute)
for table in (0x1A, 0x96, 0xE8, 0xCA, 0x01):
    case(f"lop3.b32 d, a, b, c, {table};", "b32", lambda f, a, b, c, t=looked_up(table): t(a, b, c))
case("setp.lt.u32 p, a, b; lop3.{or,and}.b32 d|p, a, b, c, 0x80, p;", "d:b32 p:pred", lambda f, a, b, c: (a & b & c, (a & b & c != 0 or a < b) if ".or." in f.text else (a & b & c != 0 and a < b)))
for side in "lr":
    for mode in ("clamp", "wrap"):
        n = lambda c, mode=mode: min(c, 32) if mode == "clamp" else c & 31
        shift = (lambda a, b, k: (b << 32 | a) >> 32 - k) if side == "l" else (lambda a, b, k: (b << 32 | a) >> k)
        case(f"shf.{side}.{mode}.b32 d, a, b, c;", "b32", lambda f, a, b, c, n=n, shift=shift: shift(a, b, n(c)))
g = Group("integer", {"a": ("b32", W32), "b": ("b32", [0, 3, 31, 16, 8]), "c": ("b32", [0, 1, 2, -1, -2, 5, 9, -9])})
g.case("fns.b32 d, a, b, c;", "b32", nth)
g = Group("integer", {"a": ("b64", W64), "b": ("b64", W64[4:] + W64[:4]), "c": ("b32", [0, 1, 40, 63, 64, 7]), "e": ("b32", [0, 8, 33, 64, 255])})
at = lambda a, b, pos, n: b if n == 0 or pos > 63 else (lambda m: b & ~m | a << pos & m)((1 << min(n, 64 - pos)) - 1 << pos)
g.case("bfi.b64 d, a, b, c, e;", "b64", lambda f, a, b, c, e: at(a, b, c & 255, e & 255))
g.case("bfe.{u64,s64} d, a, c, e;", "b64", lambda f, a, b, c, e: field(f, a, c, e))
g.case("popc.b64 d, a;", "b32", lambda f, a, *_: bin(a).count("1"))
g.case("clz.b64 d, a;", "b32", lambda f, a, *_: 64 - a.bit_length())
g.case("brev.b64 d, a;", "b64", lambda f, a, *_: int(f"{a:064b}"[::-1], 2))
g.case("bfind{,.shiftamt}.{u64,s64} d, a;", "b32", lambda f, a, *_: top(f, signed(a, 64) if f.signed else a))

# Chains: the second instruction shows the flag that the first one left.
for kind, values in (("b32", W32), ("b64", W64)):
    g = Group("integer", three(values, kind))
    T, bits = ("{u%s,s%s}" % (kind[1:], kind[1:])), int(kind[1:])
    u, cut = f"u{bits}", (1 << bits) - 1
    outs = f"d:{kind} e:{kind}"
    g.case(f"add.cc.{T} d, a, b; addc.{u} e, c, c;", outs, lambda f, a, b, c: (a + b, c + c + (a + b >> bits)))
    g.case(f"sub.cc.{T} d, a, b; subc.{u} e, c, b;", outs, lambda f, a, b, c: (a - b, c - b - (a < b)))
    # The flag of a subtraction is the carry of a + ~b + 1: nvcc's 128-bit division mixes the two.
    g.case(f"sub.cc.{u} d, a, b; addc.{u} e, c, c;", outs, lambda f, a, b, c: (a - b, c + c + (a >= b)))
    g.case(f"add.cc.{u} d, a, b; subc.{u} e, c, b;", outs, lambda f, a, b, c: (a + b, c - b - 1 + (a + b >> bits)))
    g.case(f"add.cc.{u} d, a, b; addc.cc.{u} d, a, c; addc.{u} e, b, b;", outs, lambda f, a, b, c: (lambda s: (s, 2 * b + (s >> bits)))(a + c + (a + b >> bits)))
    g.case(f"sub.cc.{u} d, a, b; subc.cc.{u} d, a, c; subc.{u} e, b, a;", outs, lambda f, a, b, c: (lambda s: (s, b - a - (s < 0)))(a - c - (a < b)))
    part = lambda f, a, b: (signed(a, bits) * signed(b, bits) if f.text.split(" ")[0].split(".")[-1][0] == "s" else a * b) >> (bits if f.has("hi") else 0) & cut
    g.case("mad.{lo,hi}.cc.%s d, a, b, c; addc.%s e, a, a;" % (T, u), outs, lambda f, a, b, c: (lambda s: (s, 2 * a + (s >> bits)))(part(f, a, b) + c))
    chained = lambda f, a, b, c: part(type(f)(f.text.split("; ")[1]), a, b) + c + (a + c >> bits)
    g.case("add.cc.%s d, a, c; madc.{lo,hi}.cc.%s d, a, b, c; addc.%s e, 0, 0;" % (u, T, u), outs, lambda f, a, b, c: (lambda s: (s, s >> bits))(chained(f, a, b, c)))

# Video: parts of registers, clamped and merged.
OPS = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "absdiff": lambda x, y: abs(x - y), "min": min, "max": max,
       "avrg": lambda x, y: (x + y + (x + y >= 0)) >> 1}
g = Group("video", three(W32, "b32"))
pick = lambda x, at, bits, is_signed: signed(x >> at, bits) if is_signed else x >> at & (1 << bits) - 1
is_s = lambda f, i: f.modifiers[i][0] == "s"
for name, op in OPS.items():
    if name != "avrg":
        g.case("v%s.{u32,s32}.{u32,s32}.s32{,.sat} d, a, b;" % name, "b32", lambda f, a, b, c, op=op: (
            lambda t: clamped(t, 32, is_s(f, 0)) if f.has("sat") else t)(op(pick(a, 0, 32, is_s(f, 1)), pick(b, 0, 32, is_s(f, 2)))))
        g.case("v%s.s32.u32.s32.sat d.h1, a.b1, b.h1, c;" % name, "b32", lambda f, a, b, c, op=op: c & 0xFFFF | (clamped(op(a >> 8 & 255, signed(b >> 16, 16)), 16) & 0xFFFF) << 16)
        g.case("v%s.s32.s32.s32.{add,min,max} d, a.b3, b.h0, c;" % name, "b32", lambda f, a, b, c, op=op: OPS[f.modifiers[-1]](op(signed(a >> 24, 8), signed(b, 16)), signed(c, 32)))
    for count, bits in ((2, 16), (4, 8)):
        def lanes(f, a, b, c, op=op, count=count, bits=bits):
            ts = [op(pick(a, i * bits, bits, is_s(f, 1)), pick(b, i * bits, bits, is_s(f, 2))) for i in range(count)]
            if f.has("add"):
                return c + sum(ts)
            ts = [clamped(t, bits, is_s(f, 0)) if f.has("sat") else t for t in ts]
            return sum((t & (1 << bits) - 1) << i * bits for i, t in enumerate(ts))
        g.case("v%s%d.{u32,s32}.u32.s32{,.sat,.add} d, a, b, c;" % (name, count), "b32", lanes)
g.case("vabsdiff4.u32.u32.u32.add d.b310, a.b7214, b.b0123, c;", "b32", lambda f, a, b, c: c + sum(abs(((b << 32 | a) >> 8 * int("7214"[3 - i]) & 255) - ((b << 32 | a) >> 8 * int("0123"[3 - i]) & 255)) for i in (0, 1, 3)))
CMP = {"eq": "__eq__", "ne": "__ne__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__"}
holds = lambda f, x, y: getattr(x, next(CMP[m] for m in f.modifiers if m in CMP))(y)
g.case("vset.{u32,s32}.u32.{eq,ne,lt,le,gt,ge} d, a, b.h1;", "b32", lambda f, a, b, c: holds(f, pick(a, 0, 32, is_s(f, 0)), b >> 16))
g.case("vset4.u32.u32.{lt,ne}.add d, a, b, c;", "b32", lambda f, a, b, c: c + sum(holds(f, a >> 8 * i & 255, b >> 8 * i & 255) for i in range(4)))
g.case("vshl.u32.u32.u32.{clamp,wrap} d, a, b;", "b32", lambda f, a, b, c: a << (min(b, 32) if f.has("clamp") else b & 31))
g.case("vshr.s32.s32.u32.{clamp,wrap} d, a, b;", "b32", lambda f, a, b, c: signed(a, 32) >> (min(b, 32) if f.has("clamp") else b & 31))
g.case("vmad.u32.u32.u32{,.sat}{,.shr7,.shr15} d, a, b, c;", "b32", lambda f, a, b, c: (lambda t: clamped(t, 32, False) if f.has("sat") else t)(a * b + c >> {"shr7": 7, "shr15": 15}.get(f.modifiers[-1], 0)))
g.case("vmad.s32.s32.u32{,.sat} d, -a, b.h1, c;", "b32", lambda f, a, b, c: (lambda t: clamped(t, 32) if f.has("sat") else t)(-signed(a, 32) * (b >> 16) + signed(c, 32)))
g.case("vmad.s32.s32.s32.po d, a.h0, b.b1, c;", "b32", lambda f, a, b, c: signed(a, 16) * signed(b >> 8, 8) + signed(c, 32) + 1)
for signs in ("u", "s"):
    for bits in (2, 4, 8):
        g.case(f"cvt.pack.sat.{signs}{bits}.s32.b32 d, a, b, c;", "b32", lambda f, a, b, c, s=signs == "s", n=bits: (c << 2 * n) | (clamped(signed(a, 32), n, s) & (1 << n) - 1) << n | clamped(signed(b, 32), n, s) & (1 << n) - 1)
    g.case(f"cvt.pack.sat.{signs}16.s32 d, a, b;", "b32", lambda f, a, b, c, s=signs == "s": (clamped(signed(a, 32), 16, s) & 0xFFFF) << 16 | clamped(signed(b, 32), 16, s) & 0xFFFF)
