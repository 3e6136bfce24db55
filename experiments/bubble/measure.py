"""Measured bubble against the formula, on timed work. See README.md.

usage: measure.py PPC PPRUN ROOT [OP_MS]

Prints a Markdown table; exits 1 when a measured share is more than one point
from (P-1)/(M+P-1), with both numbers in the table.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SCHEDULES = ("gpipe", "one_f_one_b")
RANKS = 4
MICRO_BATCHES = (4, 8, 16)
STEPS = 6  # the first is left out


def call(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stderr}")


def measure(ppc, pprun, root, schedule, micro_batches, op_ms, folder):
    program, report = folder / "program.ppb", folder / "run.json"
    call([ppc, "compile", root / "schedules" / f"{schedule}.sched",
          "-P", str(RANKS), "-M", str(micro_batches), "-o", program])
    call([pprun, program, "--steps", str(STEPS), "--report", report,
          *(f"--model-opt={kind}={op_ms}ms" for kind in "fiw")])
    return json.loads(report.read_text())


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    ppc, pprun, root = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    op_ms = sys.argv[4] if len(sys.argv) == 5 else "20"
    far = 0
    print("| schedule | P | M | formula | simulated | measured | points apart |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for schedule in SCHEDULES:
            for m in MICRO_BATCHES:
                run = measure(ppc, pprun, root, schedule, m, op_ms,
                              pathlib.Path(name))
                formula = (RANKS - 1) / (m + RANKS - 1)
                measured = run["bubble_fraction"]
                apart = 100 * (measured - formula)
                far += abs(apart) > 1
                print(f"| {schedule} | {RANKS} | {m} | {formula:.2%} "
                      f"| {run['predicted']['bubble_fraction']:.2%} "
                      f"| {measured:.2%} | {apart:+.2f} |", flush=True)
    sys.exit(1 if far else 0)


main()
