"""Makes results.md and results.json of what scripts/gpu has measured."""

import json
import math
import statistics
import sys
from pathlib import Path


def lines(folder, step):
    path = folder / f"{step}.jsonl"
    if not path.exists():
        return []
    found = []
    for line in path.read_text().splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            pass  # what a program printed beside
    return found


def geomean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else float("nan")


def table(head, rows):
    text = "| " + " | ".join(head) + " |\n|" + " --- |" * len(head) + "\n"
    return text + "".join("| " + " | ".join(str(cell) for cell in row) + " |\n" for row in rows) + "\n"


def name(file):
    return "/".join(Path(file).parts[-2:])


def card(results):
    for one in results["state"]:
        if "driver" in one and "name" in one and "uuid" in one:
            return (f"{one['name']}, driver {one['driver']}, SM clock {one['sm_clock']} (at most "
                    f"{one['max_sm_clock']}), memory clock {one['memory_clock']}, {one['temperature']} °C, "
                    f"{one['power']} of {one['power_limit']}\n\n")
    return "no card\n\n"


def conform(results):
    counts, wrong, close = {}, [], []
    for one in results["conform"]:
        if "outcome" not in one:
            continue
        counts[one["outcome"]] = counts.get(one["outcome"], 0) + 1
        if one["outcome"] in ("different", "unsupported", "refused"):
            why = one.get("first") or one.get("why")
            where = name(one["file"]) if one.get("file") else ""
            wrong.append([where, f"`{one['name']}`", one["outcome"],
                          f"{one.get('differing', '')}/{one.get('values', '')}", str(why)[:110]])
        if one["outcome"] == "close":
            close.append([f"`{one['name']}`", f"{one['differing']} of {one['values']}", one["units"]])
    text = "## The emulator against the card\n\n"
    text += ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) + "\n\n"
    if close:
        text += table(["within the manual's bound", "values that differ", "units in the last place"], close)
    if wrong:
        text += table(["file", "program", "outcome", "values", "why"], wrong)
    return text


def suite(results):
    wrong = [one for one in results["suite"] if one["code"]]
    text = f"## The suite on the card\n\n{len(results['suite']) - len(wrong)} of {len(results['suite'])} programs are right\n\n"
    if wrong:
        text += table(["program", "exit code", "says"],
                      [[name(one["program"]), one["code"], one["says"].replace("\n", " ")] for one in wrong])
    return text


def rungs(results):
    rows = []
    for one in results["rungs"]:
        if "bench" not in one:
            rows.append([name(one.get("file") or "?"), "", one.get("verdict"), str(one.get("error"))[:80], "", "", "", "", ""])
            continue
        for size in one["bench"]:
            copy = size["copy_us"] / size["median_us"] if size.get("copy_us") else float("nan")
            half = (size["ci_us"][1] - size["ci_us"][0]) / 2 / size["median_us"]
            rows.append([name(one["file"]), size["name"], one["verdict"], f"{size['median_us']:.2f}",
                         f"±{100 * half:.1f} %", f"{size['sol_percent']:.0f} %", f"{100 * copy:.0f} %",
                         f"{size['hot_us']:.2f}" if size["hot_us"] else "", size["discarded"]])
        if not one["bench"]:
            rows.append([name(one["file"]), "", one["verdict"], "", "", "", "", "", ""])
    head = ["rung", "size", "verdict", "µs", "95 %", "of light", "of copy", "hot µs", "discarded"]
    return "## Rungs\n\n" + table(head, rows)


def best_times(results):
    """The least median by problem and size, of accepted rungs."""
    best = {}
    for one in results["rungs"]:
        for size in one.get("bench", []):
            key = (one["problem"], size["name"])
            if one["verdict"] == "accepted" and size["median_us"] < best.get(key, (1e99, ""))[0]:
                best[key] = (size["median_us"], name(one["file"]), size["sol_percent"])
    return best


def peers(results, best):
    rows, agree = [], []
    for one in results["peers"]:
        if "agrees" in one:
            agree.append([one["agrees"], one["output"], f"{one['differing']} of {one['values']}",
                          one.get("largest_step", "")])
            continue
        own = best.get((one["problem"], one["size"]))
        if one["median_us"] is None:
            rows.append([one["problem"], one["size"], one["peer"], "", "", one["note"]])
            continue
        ratio = f"{one['median_us'] / own[0]:.2f}" if own else ""
        rows.append([one["problem"], one["size"], one["peer"], f"{one['median_us']:.2f}",
                     f"{own[0]:.2f}" if own else "", ratio])
    head = ["problem", "size", "peer", "µs", "nibble's best rung, µs", "peer / rung"]
    text = "## Peers\n\n" + table(head, rows)
    return text + table(["peer", "output", "differs from the reference in", "by codes, at most"], agree)


def faults(results):
    rows = []
    for one in results["faults"]:
        failed = [case for case in one.get("cases", []) if case["verdict"] != "accepted"]
        why = ", ".join(failed[0]["reasons"]) if failed else ""
        rows.append([name(one.get("file") or "?"), one.get("verdict"), why])
    return "## Wrong and broken solutions\n\n" + table(["file", "verdict", "reasons"], rows)


def single(results):
    text = "## Single figures\n\n"
    for one in results["submit"]:
        if "end_to_end_s" in one:
            text += f"- `submit` of one rung, end to end: {one['end_to_end_s']:.1f} s\n"
    calls = [one["geomean"]["call"] for one in results["same"] if one.get("geomean")]
    if calls:
        called = {call: calls.count(call) for call in sorted(set(calls))}
        sizes = [size["effect"]["call"] for one in results["same"] for size in one["sizes"]]
        called_sizes = {call: sizes.count(call) for call in sorted(set(sizes))}
        text += (f"- a solution compared with itself, {len(calls)} runs: {called} in geomean, "
                 f"{called_sizes} of single sizes\n")
    for one in results["busy"]:
        noisy = [warning for warning in one.get("warnings", []) if warning.startswith(("NOISY", "UNSTABLE"))]
        text += f"- beside a process that keeps the card busy: {one.get('verdict')}, {'; '.join(noisy) or 'no warning'}\n"
    overheads = [size["overhead_us"] for one in results["rungs"] for size in one.get("bench", [])
                 if size.get("overhead_us")]
    if overheads:
        text += (f"- nibble around one timed call, median over all rungs and sizes: "
                 f"{statistics.median(overheads):.0f} µs, at most {max(overheads):.0f} µs\n")
    gemv = [size["sol_percent"] for one in results["rungs"] if one.get("problem") == "nvfp4_gemv"
            for size in one.get("bench", [])]
    hosts = [size["host_us"] for one in results["rungs"] for size in one.get("bench", [])
             if size.get("host_us")]
    if hosts:
        text += f"- host time in one call, median over all rungs and sizes: {statistics.median(hosts):.1f} µs\n"
    by_rung = {}
    for one in results["rungs"]:
        if one.get("problem") == "nvfp4_gemv" and one.get("bench"):
            by_rung[name(one["file"])] = geomean([size["sol_percent"] for size in one["bench"]])
    if gemv and by_rung:
        top = max(by_rung, key=by_rung.get)
        text += f"- `nvfp4_gemv`, best rung {top}: {by_rung[top]:.0f} % of the DRAM floor, geomean\n"
    return text + "\n"


def main():
    folder = Path(sys.argv[1])
    steps = ["state", "conform", "suite", "faults", "rungs", "submit", "profiles", "same", "busy", "peers"]
    results = {step: lines(folder, step) for step in steps}
    best = best_times(results)
    text = "# On a GPU\n\n" + card(results) + single(results)
    if results["conform"]:
        text += conform(results)
    if results["suite"]:
        text += suite(results)
    if results["rungs"]:
        text += rungs(results)
    if results["peers"]:
        text += peers(results, best)
    if results["faults"]:
        text += faults(results)
    (folder / "results.md").write_text(text)
    (folder / "results.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main()
