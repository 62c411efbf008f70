#!/usr/bin/env python3
"""Writes the tables beside it: what each form of an instruction must give, bit for bit.

The truth here is the manual's formula (PTX ISA 9.7), evaluated in whole numbers and fractions, and
nothing of the emulator's. `integer.py`, `floating.py` and `conversion.py` say the forms:

    case("add.{u32,s32} d, a, b;", "b32", lambda f, a, b, c: a + b)

Braces are choices; `f` is the form that came of them. README.md describes the tables.
"""
import re
from pathlib import Path

LANES = 32
WIDTH = {"pred": 1, "b8": 8, "b16": 16, "b32": 32, "b64": 64}
tables = {}


class Form:
    """one form: its text, and the modifiers of its first instruction"""

    def __init__(self, text):
        self.text = text
        self.modifiers = text.split()[0].split(".")[1:]

    def has(self, name):
        return name in self.modifiers

    def bits(self, at=-1):
        """of a type: 32 of `s32`"""
        return int(re.sub(r"^\D+", "", self.modifiers[at]))

    @property
    def signed(self):
        return self.modifiers[-1].startswith("s")

    @property
    def rounding(self):
        return next((m for m in self.modifiers if m in ("rn", "rz", "rm", "rp", "rna")), "rn")


def expand(text):
    choice = re.search(r"\{([^{}]*)\}", text)
    if not choice or "{" not in text:
        return [text]
    head, tail = text[: choice.start()], text[choice.end():]
    return [form for part in choice.group(1).split(",") for form in expand(head + part + tail)]


def signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> bits - 1 else x


class Group:
    """cases with the same operands"""

    def __init__(self, table, inputs, arch="sm_80"):
        """`inputs`: a name to a class and its values, repeated to fill the lanes"""
        self.lines = tables.setdefault(table, [])
        self.arch = arch
        self.inputs = {}
        self.lines.append("in " + " ".join(f"{name}:{kind}" for name, (kind, _) in inputs.items()))
        for name, (kind, values) in inputs.items():
            lanes = [values[lane % len(values)] & (1 << WIDTH[kind]) - 1 for lane in range(LANES)]
            self.inputs[name] = lanes
            self.lines.append(self.words(name, kind, lanes))

    @staticmethod
    def words(name, kind, lanes):
        return f"{name} = " + " ".join(f"{x:x}" for x in lanes)

    def case(self, pattern, outputs, f, arch=None, ulps=0):
        """`outputs`: `b32` for `d`, or `d:b32 p:pred`; angle brackets stand for PTX's braces"""
        named = [("d", outputs)] if ":" not in outputs else [o.split(":") for o in outputs.split()]
        for text in expand(pattern):
            form = Form(text)
            rows = []
            for lane in range(LANES):
                result = f(form, *(values[lane] for values in self.inputs.values()))
                rows.append(result if isinstance(result, tuple) else (result,))
            text = text.replace("<", "{").replace(">", "}")
            close = f" ~{ulps}" if ulps else ""
            heading = " ".join(f"{name}:{kind}" for name, kind in named)
            self.lines.append(f"{arch or self.arch} {heading}{close} | {text}")
            for index, (name, kind) in enumerate(named):
                lanes = [int(row[index]) & (1 << WIDTH[kind]) - 1 for row in rows]
                self.lines.append(self.words(name, kind, lanes))


if __name__ == "__main__":
    import sys

    sys.dont_write_bytecode = True
    # The modules below fill this one's tables, not those of a second copy.
    sys.modules["expected"] = sys.modules["__main__"]
    import conversion, floating, integer  # noqa: F401, E401

    for table, lines in tables.items():
        path = Path(__file__).parent / f"{table}.txt"
        path.write_text("# Written by expected.py; README.md describes the lines.\n" + "\n".join(lines) + "\n")
