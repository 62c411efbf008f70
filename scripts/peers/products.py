"""Peers of nvfp4_gemv and fp4_attention: what PyTorch and cuBLAS offer for the same shapes."""

import torch

from common import attempt, median_us
from quantize import VALUES, random_bytes

GEMV = [(7168, 16384, 1), (4096, 7168, 8), (7168, 2048, 4)]
ATTENTION = [(64, 128, 128), (64, 512, 128), (64, 1024, 128), (64, 128, 64), (64, 512, 64),
             (64, 1024, 64), (1024, 1024, 128)]


@torch.compile
def decode(q, scale, table):
    rows, half = q.shape[:-1], q.shape[-1]
    codes = torch.stack((q & 15, q >> 4), dim=-1).view(*rows, half // 8, 16)
    factor = scale.view(torch.float8_e4m3fn).float()
    return (table[codes.int()] * factor[..., None]).view(*rows, 2 * half).half()


def dequantize_then_matmul(a, sfa, b, sfb, table):
    return torch.bmm(decode(a, sfa, table), decode(b, sfb, table).transpose(1, 2))


def halves(shape, seed):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randn(shape, device="cuda", generator=generator).half()


def main():
    for m, k, l in GEMV:
        size = f"{m}x{k}x{l}"

        def quantized(seed):
            return (random_bytes((l, m, k // 2), seed), random_bytes((l, m, k // 16), seed + 1),
                    random_bytes((l, 1, k // 2), seed + 2), random_bytes((l, 1, k // 16), seed + 3),
                    torch.tensor(VALUES, device="cuda"))

        def f16(seed):
            return halves((l, m, k), seed), halves((l, k, 1), seed + 1)

        def f8(seed):
            # cuBLAS wants 16 columns of FP8 at least; column-major.
            a = halves((m, k), seed).to(torch.float8_e4m3fn)
            b = halves((16, k), seed + 1).to(torch.float8_e4m3fn).t()
            one = torch.ones((), device="cuda")
            return a, b, one

        def fp8_products(a, b, one):
            for _ in range(l):
                torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.float16)

        attempt("nvfp4_gemv", size, "dequantize, then matmul (torch)",
                lambda: median_us(dequantize_then_matmul, quantized))
        attempt("nvfp4_gemv", size, "cuBLAS FP16", lambda: median_us(torch.bmm, f16))
        attempt("nvfp4_gemv", size, "cuBLAS FP8, 16 columns", lambda: median_us(fp8_products, f8))
        torch.cuda.empty_cache()
    for seq_q, seq_k, head_dim in ATTENTION:
        size = f"1x32x{seq_q}x{seq_k}x{head_dim}"

        def qkv(seed):
            return [halves((1, 32, length, head_dim), seed + place)
                    for place, length in enumerate((seq_q, seq_k, seq_k))]

        attempt("fp4_attention", size, "scaled_dot_product_attention f16", lambda: median_us(
            torch.nn.functional.scaled_dot_product_attention, qkv))


if __name__ == "__main__":
    main()
