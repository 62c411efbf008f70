"""Whether the peers compute what is asked for: their outputs against `nibble reference`, on the same inputs.

    python3 scripts/peers/agree.py NIBBLE

A line of JSON for each peer and output. MXFP4 is a definition in bits: all bytes must agree. NVFP4
divides by a scale, and whoever multiplies by a reciprocal may round a near tie the other way:
there the bytes that differ are counted, and by how much their codes do.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import torch

import quantize

M, K = 256, 1024


def reference(nibble, problem, inputs, scalars, outputs):
    """The right outputs, by name."""
    with tempfile.TemporaryDirectory() as folder:
        command = [nibble, "reference", problem, "-o", f"{folder}/out", "--quiet"]
        for name, tensor in inputs.items():
            numpy.save(f"{folder}/{name}.npy", tensor.cpu().numpy())
            command += ["--input", f"{name}={folder}/{name}.npy"]
        for name, value in scalars.items():
            command += ["--scalar", f"{name}={value}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {name: numpy.load(Path(folder) / "out" / f"{name}.npy") for name in outputs}


def say(peer, name, right, given):
    given = given.cpu().numpy().reshape(right.shape)
    line = {"agrees": peer, "output": name, "values": int(right.size), "differing": int((given != right).sum())}
    if right.dtype == numpy.uint8:
        # Neighbouring codes of one sign are one apart, in either nibble.
        nibbles = [(right >> shift & 15).astype(int) - (given >> shift & 15) for shift in (0, 4)]
        line["largest_step"] = int(max(abs(part).max() for part in nibbles))
    print(json.dumps(line), flush=True)


def main():
    nibble = sys.argv[1]
    empty = lambda *shape: torch.empty(*shape, dtype=torch.uint8, device="cuda")
    a = quantize.uniform((M, K), torch.float32, 1)
    right = reference(nibble, "mxfp4_quantize", {"a": a}, {}, ["q", "scale"])
    q, scale = empty(M, K // 2), empty(M, K // 32)
    quantize.mxfp4_triton(a, q, scale)
    for peer, outputs in (("Triton", (q, scale)), ("torch.compile", quantize.mxfp4_formula(a))):
        for name, given in zip(("q", "scale"), outputs):
            say(f"mxfp4_quantize {peer}", name, right[name], given)
    table = torch.tensor(quantize.VALUES, device="cuda")
    decoded = reference(nibble, "mxfp4_dequantize", {"q": q, "scale": scale}, {}, ["out"])
    say("mxfp4_dequantize torch.compile", "out", decoded["out"], quantize.mxfp4_decode(q, scale, table))

    h = quantize.uniform((M, K), torch.float16, 2)
    right = reference(nibble, "nvfp4_quantize", {"a": h}, {"sf_g": 2688}, ["q", "scale"])
    q, scale = empty(M, K // 2), empty(right["scale"].size)
    quantize.nvfp4_triton(h, 2688.0, q, scale)
    for peer, outputs in (("Triton", (q, scale)), ("torch.compile", quantize.nvfp4_formula(h, 2688.0))):
        for name, given in zip(("q", "scale"), outputs):
            say(f"nvfp4_quantize {peer}", name, right[name], given)


if __name__ == "__main__":
    main()
