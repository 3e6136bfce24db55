#!/usr/bin/env python3
"""Runs that are killed at any moment and go on from their last checkpoint.

usage: checkpoints.py PPC PPRUN ROOT [KILLS]

Losses and weights of the run that was killed so many times are, bit for bit,
those of a run without a break, whatever P, M, schedule and kind of rank each
piece had.
"""

import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MODEL = ["--model", "mlp", "--layers", "8", "--dim", "24", "--batch", "8"]
RUNS = [("one_f_one_b", 2, 8, []), ("zb_h1", 4, 8, []), ("gpipe", 1, 8, []),
        ("zb_v", 4, 8, []), ("one_f_one_b", 2, 8, ["--nproc", "2"])]
EVERY = 7


class Tester:
    def __init__(self, ppc, pprun, root, folder):
        self.ppc, self.pprun, self.root = ppc, pprun, root
        self.folder = pathlib.Path(folder)
        self.points = self.folder / "points"
        self.bad = 0

    def fail(self, text):
        self.bad += 1
        print("WRONG:", text, flush=True)

    def command(self, run, *more, model=None):
        schedule, p, m, kind = run
        out = self.folder / f"{schedule}_{p}_{m}.ppb"
        if not out.exists():
            subprocess.run([self.ppc, "compile",
                            self.root / "schedules" / f"{schedule}.sched",
                            "-P", str(p), "-M", str(m), "-o", out],
                           check=True, capture_output=True)
        return [self.pprun, out, *(model or MODEL), *kind, *map(str, more)]

    def good(self, *arguments):
        done = subprocess.run(self.command(*arguments), check=False,
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{arguments}: {done.stderr}")

    def refused(self, code, says, run, *more, model=None):
        done = subprocess.run(self.command(run, *more, model=model),
                              check=False, capture_output=True, text=True)
        if done.returncode != code or says not in done.stderr:
            self.fail(f"{more}: exit {done.returncode}, not {code} with "
                      f"`{says}`: {done.stderr}")

    def losses(self, path):
        return [s["loss"] for s in json.loads(path.read_text())["steps"]]

    def newest(self):
        """Steps of the newest checkpoint; 0: there is none."""
        steps = [int(p.name[5:15]) for p in self.points.glob("step-*")
                 if p.name.endswith(".safetensors")]
        return max(steps, default=0)

    def pieces(self, optimizer):
        """20 steps in pieces of 4, each another run; the losses too."""
        shutil.rmtree(self.points, ignore_errors=True)
        whole, parts = self.folder / "whole", self.folder / "parts"
        report = self.folder / "report.json"
        self.good(RUNS[0], "--optimizer", optimizer, "--steps", 20, "--save",
                  whole, "--report", report)
        expected, found = self.losses(report), []
        for number, run in enumerate(RUNS):
            self.good(run, "--optimizer", optimizer, "--steps",
                      4 * number + 4, "--checkpoint", self.points, "--every",
                      3, "--resume", "--save", parts, "--report", report)
            found += self.losses(report)
        if found != expected:
            self.fail(f"{optimizer}: losses {found}, not {expected}")
        if parts.read_bytes() != whole.read_bytes():
            self.fail(f"{optimizer}: weights differ after pieces")
        if len(list(self.points.iterdir())) != 2:
            self.fail(f"not two files: {list(self.points.iterdir())}")
        print(f"{optimizer}: {len(RUNS)} pieces, the losses and weights of "
              f"one run", flush=True)

    def kills(self, wanted):
        """A run killed at random moments, until it has run to its end."""
        shutil.rmtree(self.points, ignore_errors=True)
        whole, out = self.folder / "whole", self.folder / "out"
        options = ["--checkpoint", self.points, "--every", EVERY, "--resume"]
        rng = random.Random(1)
        before = 0
        for kill in range(wanted):
            run = RUNS[kill % len(RUNS)]
            process = subprocess.Popen(
                self.command(run, *options, "--steps", 10**9),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, 0.8))
            if process.poll() is not None:
                self.fail(f"kill {kill}: {run} ended by itself")
            process.send_signal(signal.SIGKILL)
            process.wait()
            if run[3]:
                time.sleep(0.5)  # its ranks end when their launcher is gone
            now = self.newest()
            if now < before or now % EVERY != 0:
                self.fail(f"kill {kill}: {before} steps, then {now}")
            before = now
        end = before + 2 * EVERY
        self.good(RUNS[0], *options, "--steps", end, "--save", out)
        self.good(RUNS[1], "--steps", end, "--save", whole)
        if out.read_bytes() != whole.read_bytes():
            self.fail(f"after {wanted} kills and {end} steps: weights differ")
        print(f"{wanted} kills, {end} steps: the weights of one run",
              flush=True)

    def faults(self):
        shutil.rmtree(self.points, ignore_errors=True)
        run, at = RUNS[0], ["--checkpoint", self.points]
        self.good(run, *at, "--every", 2, "--steps", 4)
        on = [*at, "--every", 2, "--steps", 8]
        self.refused(2, "--resume goes on from it", run, *on)
        self.refused(2, "leaves nothing to do", run, *at, "--resume",
                     "--steps", 4)
        self.refused(2, "need --checkpoint", run, "--every", 2)
        self.refused(2, "needs --every N", run, *at)
        self.refused(2, "synthetic has no weights", run, *on,
                     model=["--model", "synthetic"])
        on.append("--resume")
        self.refused(1, "--seed 1, this run has 2", run, *on, "--seed", 2)
        self.refused(1, "--optimizer adamw, this run has sgd", run, *on,
                     "--optimizer", "sgd")
        self.refused(1, "model option dim 24, this run has 16", run, *on,
                     model=[*MODEL[:4], "--dim", "16", *MODEL[6:]])
        newest = self.points / "step-0000000004.safetensors"
        content = newest.read_bytes()
        newest.write_bytes(content[:-1])
        self.refused(1, "is no whole safetensors file", run, *on)
        newest.write_bytes(content)
        aside = self.points / (newest.name + ".1-0.tmp")
        aside.write_bytes(b"half")
        self.good(run, *on, "--verify-gradients")
        if aside.exists():
            self.fail("what a killed run left is still there")
        file = self.folder / "file"
        file.write_bytes(b"")
        self.refused(3, "file", run, "--every", 2, "--checkpoint", file)


def main():
    ppc, pprun, root = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    kills = int(sys.argv[4]) if len(sys.argv) > 4 else 10
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(ppc, pprun, root, folder)
        tester.pieces("adamw")
        tester.pieces("sgd")
        tester.faults()
        tester.kills(kills)
    sys.exit(tester.bad > 0)


if __name__ == "__main__":
    main()
