"""Compares an exported reads_all_seven.cu with sums over the tensors' logical indices."""

import itertools
import random

from stand_ins import Tensor, custom_kernel

kernel = custom_kernel()
random.seed(1)
for m, k, l in [(128, 256, 1), (256, 128, 3)]:
    rows, scales = m // 128, k // 16
    batch_first = [2, 0, 1]
    tiled = [5, 2, 4, 0, 1, 3]
    a = Tensor((m, k // 2, l), batch_first)
    b = Tensor((128, k // 2, l), batch_first)
    sfa = Tensor((m, scales, l), batch_first)
    sfb = Tensor((128, scales, l), batch_first)
    sfa_permuted = Tensor((32, 4, rows, 4, scales // 4, l), tiled)
    sfb_permuted = Tensor((32, 4, 1, 4, scales // 4, l), tiled)
    c = Tensor((m, 1, l), batch_first, item=2)
    given = (a, b, sfa, sfb, sfa_permuted, sfb_permuted, c)
    assert kernel(given) is c
    for i, z in itertools.product(range(m), range(l)):
        total = sum(a[i, j, z] + 3 * b[0, j, z] for j in range(k // 2))
        for j in range(scales):
            total += 5 * sfa[i, j, z] + 7 * sfb[0, j, z]
            total += 11 * sfa_permuted[i % 32, i % 128 // 32, i // 128, j % 4, j // 4, z]
            total += 13 * sfb_permuted[0, 0, 0, j % 4, j // 4, z]
        assert c[i, 0, z] == total % 65536, (m, k, l, i, z)
