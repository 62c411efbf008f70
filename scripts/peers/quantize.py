"""Peers of the quantizers and dequantizers: a copy of as many bytes, Triton, torch.compile."""

import torch
import triton
import triton.language as tl

from common import attempt, median_us

SIZES = [(1024, 1024), (2048, 2048), (4096, 8192), (8192, 4096), (8192, 8192), (16384, 8192)]


@triton.jit
def e2m1(x):
    """The code of |x|, ties to even, by comparing with the midpoints; the sign in bit 3."""
    a = tl.abs(x)
    code = (a > 0.25).to(tl.int32) + (a >= 0.75).to(tl.int32) + (a > 1.25).to(tl.int32)
    code += (a >= 1.75).to(tl.int32) + (a > 2.5).to(tl.int32) + (a >= 3.5).to(tl.int32)
    code += (a > 5.0).to(tl.int32)
    sign = (x.to(tl.int32, bitcast=True) >> 28) & 8
    return code | sign


@triton.jit
def mxfp4_kernel(a, q, scale, blocks, BLOCKS: tl.constexpr):
    block = tl.program_id(0) * BLOCKS + tl.arange(0, BLOCKS)
    inside = block < blocks
    column = tl.arange(0, 32)
    x = tl.load(a + block[:, None] * 32 + column[None, :], mask=inside[:, None], other=0.0)
    bits = tl.max(x.to(tl.int32, bitcast=True) & 0x7FFFFFFF, axis=1)
    exponent = tl.maximum((bits >> 23) - 2, 0)
    # 2^(127 - exponent), also where it is subnormal.
    up = tl.minimum(254 - exponent, 254)
    factor = (up << 23).to(tl.float32, bitcast=True)
    code = e2m1(x * factor[:, None])
    even, odd = tl.split(tl.reshape(code, (BLOCKS, 16, 2)))
    byte = (even | (odd << 4)).to(tl.uint8)
    tl.store(q + block[:, None] * 16 + tl.arange(0, 16)[None, :], byte, mask=inside[:, None])
    tl.store(scale + block, exponent.to(tl.uint8), mask=inside)


def mxfp4_triton(a, q, scale):
    blocks = a.numel() // 32
    mxfp4_kernel[(triton.cdiv(blocks, 64),)](a, q, scale, blocks, BLOCKS=64, num_warps=4)


@triton.jit
def nvfp4_kernel(a, q, scale, sf_g, m, k, ROWS: tl.constexpr):
    """A tile of ROWS rows and 64 columns: four scales a row, which lie together in the layout."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    tile = tl.program_id(1)
    column = tile * 64 + tl.arange(0, 64)
    inside = row < m
    x = tl.load(a + row[:, None] * k + column[None, :], mask=inside[:, None], other=0.0)
    x = tl.reshape(x.to(tl.float32), (ROWS, 4, 16))
    amax = tl.max(tl.abs(x), axis=2)
    s8 = tl.minimum(sf_g * (amax / 6.0), 448.0).to(tl.float8e4nv)
    s = s8.to(tl.float32)
    factor = tl.where(s > 0, sf_g / s, 0.0)
    code = e2m1(x * factor[:, :, None])
    even, odd = tl.split(tl.reshape(code, (ROWS, 32, 2)))
    byte = (even | (odd << 4)).to(tl.uint8)
    place = row[:, None] * (k // 2) + tile * 32 + tl.arange(0, 32)[None, :]
    tl.store(q + place, byte, mask=inside[:, None])
    tiles = k // 64
    base = ((row // 128) * tiles + tile) * 512 + (row % 32) * 16 + ((row % 128) // 32) * 4
    where = base[:, None] + tl.arange(0, 4)[None, :]
    tl.store(scale + where, s8.to(tl.uint8, bitcast=True), mask=inside[:, None])


def nvfp4_triton(a, sf_g, q, scale):
    m, k = a.shape
    nvfp4_kernel[(triton.cdiv(m, 32), k // 64)](a, q, scale, sf_g, m, k, ROWS=32, num_warps=4)


def codes(x):
    a = x.abs()
    midpoints = ((0.25, False), (0.75, True), (1.25, False), (1.75, True), (2.5, False),
                 (3.5, True), (5.0, False))
    code = sum(((a >= m) if even else (a > m)).to(torch.uint8) for m, even in midpoints)
    return code | (torch.signbit(x).to(torch.uint8) << 3)


def pack(code):
    return code[..., 0::2] | (code[..., 1::2] << 4)


@torch.compile
def mxfp4_formula(a):
    x = a.view(-1, 32)
    exponent = ((x.abs().amax(1).view(torch.int32) >> 23) - 2).clamp(min=0)
    factor = (254 - exponent).clamp(max=254).bitwise_left_shift(23).view(torch.float32)
    return pack(codes(x * factor[:, None])), exponent.to(torch.uint8)


@torch.compile
def nvfp4_formula(a, sf_g):
    m, k = a.shape
    x = a.float().view(m, k // 16, 16)
    s8 = (sf_g * (x.abs().amax(2) / 6.0)).clamp(max=448.0).to(torch.float8_e4m3fn)
    s = s8.float()
    factor = torch.where(s > 0, sf_g / s, 0.0)
    q = pack(codes(x * factor[:, :, None]))
    tiled = s8.view(torch.uint8).view(m // 128, 4, 32, k // 64, 4).permute(0, 3, 2, 1, 4)
    return q, tiled.contiguous()


VALUES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0]


@torch.compile
def mxfp4_decode(q, scale, table):
    m, half = q.shape
    codes = torch.stack((q & 15, q >> 4), dim=-1).view(m, half // 16, 32)
    factor = (scale.to(torch.int32) << 23).view(torch.float32)
    return table[codes.int()] * factor[:, :, None]


@torch.compile
def nvfp4_decode(q, scale, sf_g, table):
    m, half = q.shape
    k = 2 * half
    codes = torch.stack((q & 15, q >> 4), dim=-1).view(m, k // 16, 16)
    tiled = scale.view(m // 128, k // 64, 32, 4, 4).permute(0, 3, 2, 1, 4).reshape(m, k // 16)
    factor = tiled.contiguous().view(torch.float8_e4m3fn).float() * sf_g
    return table[codes.int()] * factor[:, :, None]


def uniform(shape, dtype, seed):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.empty(shape, dtype=torch.float32, device="cuda").uniform_(
        -1, 1, generator=generator).to(dtype)


def random_bytes(shape, seed):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randint(0, 126, shape, dtype=torch.uint8, device="cuda", generator=generator)


def copy_us(total):
    """A copy that reads and writes `total` bytes together."""
    def make(seed):
        source = random_bytes((total // 2,), seed)
        return source, torch.empty_like(source)
    return median_us(lambda source, target: target.copy_(source), make)


def main():
    for m, k in SIZES:
        size = f"{m}x{k}"

        def mx_in(seed):
            return (uniform((m, k), torch.float32, seed),)

        def mx_io(seed):
            return (*mx_in(seed), torch.empty(m, k // 2, dtype=torch.uint8, device="cuda"),
                    torch.empty(m, k // 32, dtype=torch.uint8, device="cuda"))

        def nv_in(seed):
            return uniform((m, k), torch.float16, seed), 2688.0

        def nv_io(seed):
            return (*nv_in(seed), torch.empty(m, k // 2, dtype=torch.uint8, device="cuda"),
                    torch.empty(m, k // 16, dtype=torch.uint8, device="cuda"))

        def mx_codes(seed):
            return (random_bytes((m, k // 2), seed), random_bytes((m, k // 32), seed + 99),
                    torch.tensor(VALUES, device="cuda"))

        def nv_codes(seed):
            return (random_bytes((m, k // 2), seed), random_bytes((m, k // 16), seed + 99), 1 / 2688,
                    torch.tensor(VALUES, device="cuda"))

        for problem, total in [("mxfp4_quantize", m * k * 4 + m * k // 2 + m * k // 32),
                               ("nvfp4_quantize", m * k * 2 + m * k // 2 + m * k // 16),
                               ("mxfp4_dequantize", m * k // 2 + m * k // 32 + m * k * 4),
                               ("nvfp4_dequantize", m * k // 2 + m * k // 16 + m * k * 4)]:
            attempt(problem, size, "copy of as many bytes", lambda: copy_us(total))
        attempt("mxfp4_quantize", size, "Triton", lambda: median_us(mxfp4_triton, mx_io))
        attempt("mxfp4_quantize", size, "torch.compile", lambda: median_us(mxfp4_formula, mx_in))
        attempt("nvfp4_quantize", size, "Triton", lambda: median_us(nvfp4_triton, nv_io))
        attempt("nvfp4_quantize", size, "torch.compile", lambda: median_us(nvfp4_formula, nv_in))
        attempt("mxfp4_dequantize", size, "torch.compile", lambda: median_us(mxfp4_decode, mx_codes))
        attempt("nvfp4_dequantize", size, "torch.compile", lambda: median_us(nvfp4_decode, nv_codes))
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
