#!/usr/bin/env python3
"""Joins what a GPU took for each calibration call with what the emulator counted of it.

    collect.py FOLDER >h200.jsonl

Times alone are in h200.csv (program, call, microseconds: median and quartiles, samples, clock in MHz), what
`microbenchmarks` found in h200_figures.csv: NVIDIA H200, driver 580.159.04, 2026-11-23.

FOLDER is what `scripts/gpu calibrate` left: for each program NAME.csv (its `time`), NAME.names and
NAME.counts (its `count`: stdout and stderr of `nibble __count`). One line for each call: program, name,
microseconds, and its launches with the counters that are not zero.
"""

import csv
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
for counts in sorted(folder.glob("*.counts")):
    program = counts.stem
    times = {}
    for row in csv.reader((folder / f"{program}.csv").open()):
        *name, median, low, high, samples, clock = row[1:]
        times[",".join(name)] = float(median)
    names = [line.split(",", 1)[1].rstrip("\n") for line in (folder / f"{program}.names").open()]
    counted = json.loads(counts.read_text().strip().splitlines()[-1])
    facts = {kernel["mangled"]: kernel for kernel in counted["kernels"]}
    calls = []
    for launch in counted["launches"]:
        if "call_begins" in launch["kernel"]:
            calls.append([])
        else:
            calls[-1].append(launch)
    for name, launches in zip(names, calls):
        if name not in times:
            continue
        for launch in launches:
            known = facts.get(launch["kernel"], {})
            launch["registers"] = known.get("registers", 32)
            launch["stack"] = known.get("stack_bytes", 0)
            launch["spills"] = [known.get(f"spill_{way}_bytes", 0) for way in ("store", "load")]
            launch["counters"] = {key: value for key, value in launch["counters"].items() if value}
        print(json.dumps({"program": program, "name": name, "us": times[name], "launches": launches},
                         separators=(",", ":")))
