"""Compares an exported reads_all_groups.cu with sums over the tensors' logical indices."""

import itertools
import random

from stand_ins import Tensor, custom_kernel

kernel = custom_kernel()
random.seed(1)
groups = [(96, 128, 256), (72, 256, 512), (130, 128, 256)]
tensors, scales, permuted = [], [], []
for m, n, k in groups:
    batch_first, tiled = [2, 0, 1], [5, 2, 4, 0, 1, 3]
    a, b = (Tensor((rows, k // 2, 1), batch_first) for rows in (m, n))
    tensors.append((a, b, Tensor((m, n, 1), batch_first, item=2)))
    scales.append(None)
    tiles = ((m + 127) // 128, n // 128)
    permuted.append(tuple(Tensor((32, 4, rows, 4, k // 64, 1), tiled) for rows in tiles))
sizes = [(m, n, k, 1) for m, n, k in groups]
c = kernel((tensors, scales, permuted, sizes))
assert c == [of_group[2] for of_group in tensors]
for (m, n, k), (a, b, c), (sfa, sfb) in zip(groups, tensors, permuted):
    for i, j in itertools.product((0, 1, m - 1), (0, 1, n - 1)):
        total = sum(a[i, x, 0] + 3 * b[j, x, 0] for x in range(k // 2))
        for x in range(k // 16):
            total += 5 * sfa[i % 32, i % 128 // 32, i // 128, x % 4, x // 4, 0]
            total += 7 * sfb[j % 32, j % 128 // 32, j // 128, x % 4, x // 4, 0]
        assert c[i, j, 0] == total % 65536, (m, n, k, i, j)
