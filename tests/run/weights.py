#!/usr/bin/env python3
"""Weights out of a run and into another one.

usage: weights.py PPC PPRUN ROOT

The file is the same, byte for byte, whatever P, M and schedule it was trained
with; what is read is used; what does not fit is said.
"""

import pathlib
import subprocess
import sys
import tempfile

import safetensors_file

GPT = ["--model", "gpt", "--layers", "8", "--dim", "16", "--heads", "2",
       "--context", "8", "--batch", "8"]
MLP = ["--model", "mlp", "--layers", "8", "--dim", "6", "--batch", "8"]
RUNS = [("one_f_one_b", 2, 8, []), ("zb_h1", 4, 8, []), ("zb_v", 4, 8, []),
        ("gpipe", 1, 8, []), ("one_f_one_b", 2, 8, ["--nproc", "2"])]
STILL = ["--optimizer", "sgd", "--lr", "1e-30", "--steps", "1"]


class Tester:
    def __init__(self, ppc, pprun, root, folder):
        self.ppc, self.pprun, self.root = ppc, pprun, root
        self.folder = pathlib.Path(folder)
        self.bad = 0

    def fail(self, text):
        self.bad += 1
        print("WRONG:", text, flush=True)

    def file(self, name):
        return self.folder / name

    def program(self, schedule, p, m):
        out = self.file(f"{schedule}_{p}_{m}.ppb")
        subprocess.run([self.ppc, "compile",
                        self.root / "schedules" / f"{schedule}.sched",
                        "-P", str(p), "-M", str(m), "-o", out], check=True,
                       capture_output=True)
        return out

    def run(self, *arguments):
        return subprocess.run([self.pprun, *map(str, arguments)], check=False,
                              capture_output=True, text=True)

    def good(self, *arguments):
        done = self.run(*arguments)
        if done.returncode != 0:
            raise RuntimeError(f"{arguments}: {done.stderr}")

    def refused(self, code, says, *arguments):
        done = self.run(*arguments)
        if done.returncode != code or says not in done.stderr:
            self.fail(f"{arguments}: exit {done.returncode}, not {code} with "
                      f"`{says}`: {done.stderr}")

    def round_trip(self, name, model):
        """All runs save the same file; from it the next ones are equal too."""
        first = self.file("first")
        start = []
        for turn in range(2):
            files = []
            for number, (schedule, p, m, more) in enumerate(RUNS):
                out = self.file(f"{name}_{turn}_{number}")
                self.good(self.program(schedule, p, m), *model, "--steps", 2,
                          "--save", out, "--verify-gradients", *start, *more)
                files.append(out.read_bytes())
            if any(file != files[0] for file in files):
                self.fail(f"{name}: turn {turn}: files differ: "
                          f"{[file == files[0] for file in files]}")
            if turn == 1 and files[0] == first.read_bytes():
                self.fail(f"{name}: nothing was learned")
            first.write_bytes(files[0])
            start = ["--init", first, "--seed", 7]
        self.used(name, model, first)
        print(f"{name}: {len(RUNS)} runs, twice: "
              f"{len(safetensors_file.read(first))} tensors the same",
              flush=True)

    def used(self, name, model, path):
        """With a rate of next to nothing what comes out is what went in."""
        tensors = {}
        for tensor, (shape, values) in safetensors_file.read(path).items():
            # Away from zero, so that lr x gradient is lost in rounding.
            tensors[tensor] = (shape, [v if abs(v) > 1e-6 else 1e-3
                                       for v in values])
        changed, out = self.file("changed"), self.file("still")
        safetensors_file.write(changed, tensors)
        self.good(self.program("zb_h1", 4, 8), *model, *STILL, "--init",
                  changed, "--save", out)
        if safetensors_file.read(out) != safetensors_file.read(changed):
            self.fail(f"{name}: weights went in and came out changed")

    def faults(self):
        program = self.program("one_f_one_b", 2, 8)
        whole = self.file("whole")
        self.good(program, *MLP, "--steps", 1, "--save", whole)
        tensors = safetensors_file.read(whole)
        bad = self.file("bad")

        def init(says, change, code=1):
            changed = dict(tensors)
            change(changed)
            safetensors_file.write(bad, changed)
            self.refused(code, says, program, *MLP, "--init", bad)

        init('no tensor "layers.3.bias"',
             lambda t: t.pop("layers.3.bias"))
        init("did you mean `layers.3.bias`?",
             lambda t: t.update({"layers.3.bais": ([1], [0])}))
        init('tensor "layers.3.bias" is [2, 3] F32, but [6] F32',
             lambda t: t.update({"layers.3.bias": ([2, 3], [0] * 6)}))
        bad.write_bytes(whole.read_bytes()[:-1])
        self.refused(1, "is no whole safetensors file", program, *MLP,
                     "--init", bad)
        self.refused(1, "No such file", program, *MLP, "--init",
                     self.file("none"))
        self.refused(2, "synthetic has no weights", program, "--init", whole)
        self.refused(2, "synthetic has no weights", program, "--save", whole)
        self.refused(3, "cannot write", program, *MLP, "--save",
                     self.file("none") / "w")
        before = whole.read_bytes()
        self.refused(4, "injected", program, *MLP, "--steps", 1, "--save",
                     whole, "--inject", "1:3:error")
        if whole.read_bytes() != before:
            self.fail("a run that failed wrote weights")


def main():
    ppc, pprun, root = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    data = root / "experiments" / "data" / "kjv_genesis_exodus.txt"
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(ppc, pprun, root, folder)
        tester.round_trip("gpt", [*GPT, "--data", data])
        tester.round_trip("gpt tied", [*GPT, "--tie", "--data", data])
        tester.round_trip("mlp", MLP)
        tester.faults()
    sys.exit(tester.bad > 0)


if __name__ == "__main__":
    main()
