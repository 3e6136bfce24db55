#!/usr/bin/env python3
"""Simulates the rows of published.csv and compares all four printed digits.

run.py PPC SCHEDULES: PPC is the compiler, SCHEDULES the folder of *.sched.
Prints a Markdown table; exits 1 if a published value is missed, with both
numbers on standard error.
"""
import csv
import json
import pathlib
import subprocess
import sys
from decimal import Decimal

NAMES = ("one_f_one_b", "zb_h1", "zb_h2")


def simulated(ppc, schedule, row):
    # 1F1B runs the backward whole: its cost is that of both halves.
    costs = {k: row[k] for k in ("F", "I", "W", "comm")}
    costs["B"] = str(Decimal(row["I"]) + Decimal(row["W"]))
    out = subprocess.run(
        [ppc, "simulate", str(schedule), "-P", row["P"], "-M", row["M"],
         "--json", "--cost", ",".join(f"{k}={v}" for k, v in costs.items())],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    return f'{json.loads(out)["bubble_longest_stage"]:.4f}'


def main(ppc, schedules):
    rows = list(csv.DictReader(
        (pathlib.Path(__file__).parent / "published.csv").open()))
    missed = []
    print("| model | P | M | " +
          " | ".join(f"{n} (published)" for n in NAMES) + " |")
    print("|---" * (3 + len(NAMES)) + "|")
    for row in rows:
        cells = []
        for name in NAMES:
            got = simulated(ppc, pathlib.Path(schedules) / f"{name}.sched", row)
            cells.append(f"{got} ({row[name]})")
            if got != row[name]:
                missed.append(f'{name} {row["model"]} P={row["P"]} '
                              f'M={row["M"]}: simulated {got}, '
                              f'published {row[name]}')
        print(f'| {row["model"]} | {row["P"]} | {row["M"]} | ' +
              " | ".join(cells) + " |", flush=True)
    print("\n".join(missed), file=sys.stderr, end="\n" if missed else "")
    return 1 if missed or not rows else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: run.py PPC SCHEDULES")
    sys.exit(main(*sys.argv[1:]))
