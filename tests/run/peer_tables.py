#!/usr/bin/env python3
"""Tables of PyTorch's own tests: checked, imported and trained with.

usage: peer_tables.py PPC PPRUN ROOT

Each has to pass the checks, run with losses and every gradient equal, bit for
bit, to the run without a pipeline, and come back from its bytecode as a table
with the same compute operations on every rank.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

COMPUTE = re.compile(r"\d+[FBIW]\d+")
MODEL = ["--model", "gpt", "--layers", "8", "--dim", "16", "--heads", "2",
         "--context", "8", "--batch", "11", "--steps", "2",
         "--verify-gradients"]


def execute(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def compute_cells(text):
    """By row; a pair runs in order."""
    return [COMPUTE.findall(row) for row in text.splitlines() if row.strip(",")]


def try_table(ppc, pprun, root, table, folder):
    program, report = folder / "run.ppb", folder / "run.json"
    said = execute(ppc, "check", table)
    execute(ppc, "import", table, "--format", "pytorch", "-o", program)
    back = execute(ppc, "export", program, "--format", "pytorch", "--comms")
    if compute_cells(back) != compute_cells(table.read_text()):
        raise RuntimeError(f"the table did not come back:\n{back}")
    data = root / "experiments" / "data" / "kjv_genesis_exodus.txt"
    execute(pprun, program, *MODEL, "--data", data, "--report", report)
    gradients = json.loads(report.read_text())["gradients"]
    if not gradients["losses_equal"]:
        raise RuntimeError("losses differ")
    # A backward order of its own adds gradients in another order.
    if not gradients["bitwise_equal"] and not (
            gradients["max_abs_diff"] < 1e-6 * gradients["max_abs_reference"]):
        raise RuntimeError(f"gradients differ: {gradients}")
    return said.strip() + ("; gradients bitwise equal"
                           if gradients["bitwise_equal"] else
                           f"; gradients differ by {gradients['max_abs_diff']}")


def main():
    ppc, pprun, root = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for table in sorted((root / "tests/run/tables").glob("*.csv")):
            try:
                print(try_table(ppc, pprun, root, table,
                                pathlib.Path(folder)), flush=True)
            except RuntimeError as error:
                bad += 1
                print(f"{table.name}: WRONG: {error}", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
