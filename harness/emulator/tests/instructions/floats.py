"""Exact binary floating point, for the expected bits: fractions, rounded once.

A number is (sign, magnitude): the magnitude a Fraction, INF or NAN.
"""
from fractions import Fraction
from math import isqrt

INF, NAN = "inf", "nan"


class Format:
    """exponent and mantissa bits; `top` is the largest finite code where there is no infinity"""

    def __init__(self, exponent, mantissa, nan=None, top=None):
        self.exponent, self.mantissa = exponent, mantissa
        self.bits = 1 + exponent + mantissa
        self.bias = (1 << exponent - 1) - 1
        self.infinity = ((1 << exponent) - 1) << mantissa
        self.nan = (1 << self.bits - 1) - 1 if nan is None else nan
        self.top = top
        self.least = 1 - self.bias - mantissa  # exponent of the last place of subnormals

    def decode(self, code):
        sign, code = code >> self.bits - 1 & 1, code & (1 << self.bits - 1) - 1
        if self.top is None and code >= self.infinity:
            return sign, INF if code == self.infinity else NAN
        if self.top is not None and code > self.top:
            return sign, NAN
        exponent, mantissa = code >> self.mantissa, code & (1 << self.mantissa) - 1
        if exponent:
            mantissa, exponent = mantissa | 1 << self.mantissa, exponent - 1
        return sign, Fraction(mantissa) * Fraction(2) ** (self.least + exponent)

    def encode(self, number, mode="rn", finite=False):
        """`finite`: what is too large becomes the largest number (`.satfinite`)"""
        sign, x = number
        if x == NAN:
            return self.nan
        top = self.infinity - 1 if self.top is None else self.top
        if x == INF:
            code = top if finite or self.top is not None else self.infinity
        else:
            place = self.least
            while x >= Fraction(2) ** (place + self.mantissa + 1):
                place += 1
            scaled = x / Fraction(2) ** place
            code = int(scaled)
            code += rounds_up(sign, code, scaled - code, mode)
            code += (place - self.least) << self.mantissa
            if code > top:
                down = finite or self.top is not None or mode == "rz" or mode == ("rp" if sign else "rm")
                code = top if down else self.infinity
        return code | sign << self.bits - 1

    def flushed(self, number):
        """a subnormal as zero"""
        sign, x = number
        small = x not in (INF, NAN) and x < Fraction(2) ** (self.least + self.mantissa)
        return (sign, Fraction(0)) if small else number


def rounds_up(sign, code, rest, mode):
    """whether a magnitude between two codes goes to the upper one"""
    if mode == "rn":
        return rest > Fraction(1, 2) or rest == Fraction(1, 2) and code & 1
    if mode == "rna":
        return rest >= Fraction(1, 2)
    if mode in ("rp", "rm"):
        return rest > 0 and sign == (mode == "rm")
    return 0


F16, BF16, F32, F64 = Format(5, 10), Format(8, 7), Format(8, 23), Format(11, 52)
E4M3, E5M2 = Format(4, 3, nan=0x7F, top=0x7E), Format(5, 2, nan=0x7F, top=0x7B)
E2M1, E2M3, E3M2 = Format(2, 1, nan=7, top=7), Format(2, 3, nan=31, top=31), Format(3, 2, nan=31, top=31)


def value(number):
    sign, x = number
    return -x if sign else x


def number(x, sign=0):
    """of a fraction; `sign` is that of a zero"""
    return (int(x < 0), -x) if x < 0 else (sign if x == 0 else 0, x)


def negative(a):
    return 1 - a[0], a[1]


def add(a, b, mode="rn"):
    if NAN in (a[1], b[1]) or a[1] == b[1] == INF and a[0] != b[0]:
        return 0, NAN
    if INF in (a[1], b[1]):
        return a if a[1] == INF else b
    zero = a[0] if a[0] == b[0] else int(mode == "rm")
    both_zero = a[1] == 0 == b[1]
    return number(value(a) + value(b), zero if both_zero else int(mode == "rm"))


def mul(a, b):
    sign = a[0] ^ b[0]
    if NAN in (a[1], b[1]) or {INF, 0} <= {a[1], b[1]}:
        return 0, NAN
    return sign, INF if INF in (a[1], b[1]) else a[1] * b[1]


def fma(a, b, c, mode="rn"):
    return add(mul(a, b), c, mode)


def div(a, b):
    sign = a[0] ^ b[0]
    if NAN in (a[1], b[1]) or a[1] == b[1] and a[1] in (INF, 0):
        return 0, NAN
    if a[1] == INF or b[1] == 0:
        return sign, INF
    return sign, Fraction(0) if b[1] == INF else a[1] / b[1]


def sqrt(a):
    """exact to 200 bits, and never a tie that was none"""
    if a[1] in (NAN, INF, 0):
        return (0, NAN) if a == (1, INF) else a
    if a[0]:
        return 0, NAN
    scale = 1 << 700
    square = a[1] * scale * scale
    root = isqrt(int(square))
    exact = root * root == square
    return 0, Fraction(2 * root + (not exact), 2 * scale)


def extremum(a, b, larger, nan=False):
    """`min` or `max`: of a number and a NaN the number, -0 below +0"""
    if NAN in (a[1], b[1]):
        return (0, NAN) if nan or a[1] == b[1] else b if a[1] == NAN else a
    return sorted([a, b], key=rank)[int(larger)]


def rank(a):
    big = Fraction(2) ** 5000
    x = big if a[1] == INF else a[1]
    return (-x if a[0] else x, -a[0])


def saturated(a):
    if a[1] == NAN or a[0] or a[1] == 0:
        return 0, Fraction(0)
    return 0, Fraction(1) if a[1] == INF else min(a[1], Fraction(1))
