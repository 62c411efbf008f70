"""What the peers share: a clock like nibble's, and a table.

A peer is timed as nibble times a kernel: for each call, L2 is flushed with twice its size (written,
then read), the GPU spins while the call is enqueued, and a pair of events stands around the one call.
Every call gets other inputs, of which a few sets are drawn. The median counts.
"""

import json
import sys

import torch

CALLS = 60
SETS = 4
SPIN = 200_000  # cycles, about 0.1 ms


def flush_buffer():
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    return torch.empty(2 * l2 // 4, dtype=torch.int32, device="cuda")


FLUSH = None


def median_us(call, make_inputs):
    """Median of `CALLS` cold calls, microseconds. `make_inputs(seed)` draws one set of inputs."""
    global FLUSH
    if FLUSH is None:
        FLUSH = flush_buffer()
    sets = [make_inputs(seed) for seed in range(SETS)]
    for inputs in sets:
        call(*inputs)
    torch.cuda.synchronize()
    times = []
    for index in range(CALLS + 10):
        FLUSH.fill_(index)
        FLUSH.sum()
        torch.cuda.synchronize()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(SPIN)
        start.record()
        call(*sets[index % SETS])
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e3)
    times = sorted(times[10:])
    return times[len(times) // 2]


def say(problem, size, peer, micros, note=""):
    """One line of JSON: the script that calls this puts the lines beside nibble's times."""
    line = {"problem": problem, "size": size, "peer": peer, "median_us": micros, "note": note}
    print(json.dumps(line), flush=True)


def attempt(problem, size, peer, measure):
    """A peer that does not run here says why, and the others go on."""
    try:
        say(problem, size, peer, measure())
    except Exception as error:  # noqa: BLE001
        say(problem, size, peer, None, f"{type(error).__name__}: {error}".split("\n")[0][:200])
        print(f"{peer}: {error}", file=sys.stderr)
