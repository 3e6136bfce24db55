"""Pipelined gradients against one process, over a grid. See README.md."""

import json
import pathlib
import subprocess
import sys
import tempfile

RANKS = (1, 2, 3, 4, 8)
MICRO_BATCHES = (1, 3, 8)
CHUNKS = {"interleaved": (1, 2)}
LAYERS = 16  # enough for P = 8 with two chunks a rank
MODEL = ["--model", "gpt", "--layers", str(LAYERS), "--dim", "16",
         "--heads", "2", "--context", "8", "--batch", "11", "--steps", "2"]


def compile_point(ppc, root, schedule, out, ranks, micro_batches, chunks):
    command = [ppc, "compile", root / "schedules" / f"{schedule}.sched",
               "-P", str(ranks), "-M", str(micro_batches), "-o", out]
    if chunks is not None:
        command += ["-D", f"v={chunks}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 1 and "require" in done.stderr:
        return False
    if done.returncode != 0:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return True


def run_point(pprun, root, program, folder, tie):
    report = folder / "run.json"
    text = root / "experiments" / "data" / "kjv_genesis_exodus.txt"
    command = [pprun, program, *MODEL, "--data", text, "--verify-gradients",
               "--report", report] + (["--tie"] if tie else [])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return json.loads(report.read_text())


def check(result, point):
    gradients = result["gradients"]
    if gradients["compared"] == 0:
        sys.exit(f"{point}: no gradient was compared")
    if not gradients["bitwise_equal"]:
        sys.exit(f"{point}: gradients differ: {gradients}")
    for rank in result["ranks"]:
        predicted, counted = (rank["peak_activations_predicted"],
                              rank["peak_activations"])
        if predicted != counted:
            sys.exit(f"{point}: rank {rank['rank']}: peak activations "
                     f"predicted {predicted}, counted {counted}")


def main():
    ppc, pprun, root, schedule = sys.argv[1:]
    root = pathlib.Path(root)
    runs, losses = 0, {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "program.ppb"
        for micro_batches in MICRO_BATCHES:
            for ranks in RANKS:
                for chunks in CHUNKS.get(schedule, (None,)):
                    if not compile_point(ppc, root, schedule, program, ranks,
                                         micro_batches, chunks):
                        continue
                    for tie in (False, True):
                        point = f"P={ranks} M={micro_batches} v={chunks} " \
                                f"tie={tie}"
                        result = run_point(pprun, root, program, folder, tie)
                        check(result, point)
                        runs += 1
                        # The same loss at every P of one M, bit for bit.
                        loss = result["steps"][0]["loss"]
                        if losses.setdefault((micro_batches, tie), loss) != loss:
                            sys.exit(f"{point}: first loss {loss}, elsewhere "
                                     f"{losses[micro_batches, tie]}")
    if runs == 0:
        sys.exit("no point was admissible")
    print(f"{schedule}: {runs} runs: losses and gradients bitwise equal, "
          "activations as predicted")


main()
