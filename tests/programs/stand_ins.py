"""Runs submission.py as GPU MODE would, with stand-ins for PyTorch and its tensors.

A tensor has the task's shape over memory in the task's order, and counts as a logical index says.
load_inline compiles the CUDA sources, which hold host code only, with g++; the result is compared
with sums over the logical indices. Prints the flags that were asked for.
"""

import ctypes
import itertools
import random
import subprocess
import sys
import types


class Tensor:
    """`shape`, stored with the axes of `order` from the outermost in."""

    def __init__(self, shape, order, item=1):
        self.shape, self.strides, size = shape, [0] * len(shape), 1
        for axis in reversed(order):
            self.strides[axis] = size
            size *= shape[axis]
        data = random.randbytes(size * item)
        self.memory = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
        self.item = item

    def data_ptr(self):
        return ctypes.addressof(self.memory)

    def __getitem__(self, index):
        at = self.item * sum(i * stride for i, stride in zip(index, self.strides))
        return int.from_bytes(bytes(self.memory[at : at + self.item]), "little")


def load_inline(name, cpp_sources, cuda_sources, functions, extra_cuda_cflags):
    assert name.isidentifier() and functions == ["launch"]
    assert cpp_sources == ["void launch(" + ", ".join(f"int64_t {p}" for p in NAMES) + ");"]
    with open("cuda.cpp", "w") as file:
        file.write("\n".join(cuda_sources))
    command = ["g++", "-std=c++20", "-shared", "-fPIC", "-I.", "-o", "./cuda.so", "cuda.cpp"]
    subprocess.run(command, check=True)
    function = getattr(ctypes.CDLL("./cuda.so"), "_Z6launch" + "l" * len(NAMES))
    function.argtypes, function.restype = [ctypes.c_int64] * len(NAMES), None
    print("\n".join(extra_cuda_cflags))
    return types.SimpleNamespace(launch=function)


NAMES = ["a", "b", "sfa", "sfb", "sfa_blocked", "sfb_blocked", "c", "m", "k", "l"]
extension = types.ModuleType("torch.utils.cpp_extension")
extension.load_inline = load_inline
task = types.ModuleType("task")
task.input_t = task.output_t = tuple
sys.modules |= {"torch": types.ModuleType("torch"), "torch.utils": types.ModuleType("torch.utils")}
sys.modules |= {"torch.utils.cpp_extension": extension, "task": task}

submission = {}
exec(compile(open("submission.py").read(), "submission.py", "exec"), submission)

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
    assert submission["custom_kernel"](given) is c
    for i, z in itertools.product(range(m), range(l)):
        total = sum(a[i, j, z] + 3 * b[0, j, z] for j in range(k // 2))
        for j in range(scales):
            total += 5 * sfa[i, j, z] + 7 * sfb[0, j, z]
            total += 11 * sfa_permuted[i % 32, i % 128 // 32, i // 128, j % 4, j // 4, z]
            total += 13 * sfb_permuted[0, 0, 0, j % 4, j // 4, z]
        assert c[i, 0, z] == total % 65536, (m, k, l, i, z)
