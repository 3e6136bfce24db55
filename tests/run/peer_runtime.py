#!/usr/bin/env python3
"""Schedules of the library as tables, trained with by PyTorch's own runtime.

usage: peer_runtime.py PPC PPRUN ROOT [SCHEDULE...]

Both sides start from the same safetensors file and read the same text. The
losses of every step and the weights after the last one have to be the same: of
the table with communication as `ppc` orders it, and of the compute-only one
that PyTorch lowers itself. Prints a table; 77: no Python here has torch.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import safetensors_file

SHAPE = {"layers": 8, "dim": 16, "heads": 2, "context": 8, "batch": 16}
STEPS, RATE = 3, 0.1
POINTS = [(2, 8), (4, 8)]
SCHEDULES = ["gpipe", "one_f_one_b", "eager_1f1b", "interleaved",
             "interleaved_groups", "breadth_first", "zb_h1", "zb_h2", "zb_v",
             "interleaved_zb", "hanayo", "v_half", "v_min", "dualpipe_v"]


def torch_python():
    """A Python that can import PyTorch's pipelining, or None."""
    candidates = [os.environ.get("PP_TORCH_PYTHON", "")]
    root = os.environ.get("PP_TORCH_ROOT", "")
    if root:
        candidates.append(str(pathlib.Path(root).parents[3] / "bin/python"))
    home = os.environ.get("PP_HOME") or pathlib.Path.home() / ".cache/pp"
    candidates += sorted(map(str, pathlib.Path(home).glob("torch-*/bin/python")))
    candidates.append(sys.executable)
    for python in candidates:
        if not python or not os.access(python, os.X_OK):
            continue
        done = subprocess.run(
            [python, "-W", "ignore", "-c",
             "import torch.distributed.pipelining.schedules"],
            capture_output=True, check=False)
        if done.returncode == 0:
            return python
    return None


def execute(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


class Case:
    """One schedule at one point: our run, and the two tables of it."""

    def __init__(self, tools, folder, schedule, p, m):
        self.name, self.p, self.m = schedule, p, m
        self.base = folder / f"{schedule}_{p}_{m}"
        self.tools = tools

    def compile(self):
        """False: its `require` refuses this point."""
        ppc, _, root = self.tools
        source = root / "schedules" / f"{self.name}.sched"
        done = subprocess.run(
            [ppc, "compile", source, "-P", str(self.p), "-M", str(self.m),
             "-o", f"{self.base}.ppb"], capture_output=True, text=True,
            check=False)
        if done.returncode == 1 and "require" in done.stderr:
            return False
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        program = f"{self.base}.ppb"
        execute(ppc, "export", program, "--format", "pytorch", "--comms",
                "-o", f"{self.base}.compute_comms.csv")
        execute(ppc, "export", source, "-P", self.p, "-M", self.m, "--format",
                "pytorch", "-o", f"{self.base}.compute_only.csv")
        return True

    def train(self, init, model):
        execute(self.tools[1], f"{self.base}.ppb", *model, "--init", init,
                "--steps", STEPS, "--save", f"{self.base}.ours", "--report",
                f"{self.base}.json")
        report = json.loads(pathlib.Path(f"{self.base}.json").read_text())
        self.losses = [step["loss"] for step in report["steps"]]

    def job(self, kind, init, data):
        return {**SHAPE, "table": f"{self.base}.{kind}.csv", "format": kind,
                "P": self.p, "M": self.m, "init": str(init),
                "data": str(data), "steps": STEPS, "lr": RATE, "seed": 1,
                "save": f"{self.base}.{kind}"}

    def compare(self, kind, answer):
        """What is the same; RuntimeError where the computation is another."""
        if "error" in answer:
            raise RuntimeError(answer["error"])
        losses = answer["losses"]
        if len(losses) != STEPS or losses[0] != self.losses[0]:
            raise RuntimeError(f"losses {losses}, not {self.losses}")
        if losses[0] == losses[-1]:
            raise RuntimeError(f"nothing was learned: {losses}")
        off = max(abs(a - b) / b for a, b in zip(losses, self.losses))
        theirs = {}
        for rank in range(self.p):
            theirs.update(safetensors_file.read(f"{self.base}.{kind}.{rank}"))
        ours = safetensors_file.read(f"{self.base}.ours")
        if theirs.keys() != ours.keys():
            raise RuntimeError("other parameters")
        apart = max(abs(a - b) for name, (_, values) in ours.items()
                    for a, b in zip(values, theirs[name][1]))
        if off > 1e-6 or apart > 1e-6:
            raise RuntimeError(f"losses differ by {off:.2g} (relative), "
                               f"weights by {apart:.2g}")
        same = sum(loss == ours for loss, ours in zip(losses, self.losses))
        return f"{same}/{STEPS} losses bitwise", off, apart


def compile_cases(tools, folder, schedules):
    cases = []
    for schedule in schedules:
        for p, m in POINTS:
            case = Case(tools, folder, schedule, p, m)
            if case.compile():
                cases.append(case)
            else:
                print(f"{schedule} P={p} M={m}: refused by its `require`")
    return cases


def run(tools, python, schedules, folder):
    _, pprun, root = tools
    data = root / "experiments" / "data" / "kjv_genesis_exodus.txt"
    model = ["--model", "gpt", "--data", data, "--optimizer", "sgd",
             "--lr", RATE]
    for name, value in SHAPE.items():
        model += [f"--{name}", value]
    cases = compile_cases(tools, folder, schedules)
    init = folder / "init"
    # Of another seed and a step old, so that no side can make it by itself.
    execute(pprun, f"{cases[0].base}.ppb", *model, "--seed", 5, "--steps", 1,
            "--save", init)
    for case in cases:
        case.train(init, model)
    kinds = ("compute_comms", "compute_only")
    jobs = folder / "jobs.json"
    jobs.write_text(json.dumps([case.job(kind, init, data) for case in cases
                                for kind in kinds]))
    here = pathlib.Path(__file__).parent
    # What ranks say about a failure goes to standard error, as it comes.
    done = subprocess.run([python, "-W", "ignore", here / "peer_rank.py", jobs],
                          stdout=subprocess.PIPE, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    print(f"PyTorch {answers[0]['torch']}, Gloo, {STEPS} steps; largest "
          "difference of losses (relative) and of weights after the last step")
    bad = 0
    for number, case in enumerate(cases):
        for turn, kind in enumerate(kinds):
            what = f"{case.name:<20} P={case.p} M={case.m} {kind:<14}"
            try:
                same, off, apart = case.compare(
                    kind, answers[1 + 2 * number + turn])
                print(f"{what} {same}, losses {off:.1e}, weights {apart:.1e}")
            except RuntimeError as error:
                bad += 1
                print(f"{what} WRONG: {error}")
    return bad


def main():
    tools = [pathlib.Path(a).resolve() for a in sys.argv[1:4]]
    python = torch_python()
    if python is None:
        print("skipped: no Python here can import torch (LibTorch for the CPU "
              "alone cannot; ./setup --cuda brings one that can)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        bad = run(tools, python, sys.argv[4:] or SCHEDULES,
                  pathlib.Path(folder))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
