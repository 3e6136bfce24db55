#!/usr/bin/env python3
"""The fault table: kind of fault x transport, on real runs.

usage: faults.py PPC PPRUN ROOT

In every row one rank goes wrong in the middle of a step. The run has to end
with status 4 within the limit, name the rank, and leave no process behind.
Prints the table.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

TIMEOUT = 2.0  # of the run's watchdog, in seconds
LIMIT = 3 * TIMEOUT + 12  # two watchdogs, the grace of rank 0 and the launcher
VICTIMS = (0, 2)


def left_over(marker):
    found = subprocess.run(["pgrep", "-f", marker], capture_output=True,
                           text=True, check=False)
    return found.stdout.split()


def run(pprun, program, transport, rank, kind):
    """One row: (status, seconds, standard error)."""
    command = [pprun, program, "--steps", "1000", "--timeout", str(TIMEOUT),
               "--inject", f"{rank}:12:{kind}:1"]
    if transport == "gloo":
        command += ["--nproc", "4"]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=120, check=False)
    return done.returncode, time.monotonic() - begin, done.stderr


def check(row, status, seconds, text):
    transport, rank, kind = row
    faults = []
    if status != 4:
        faults.append(f"status {status}, not 4")
    if seconds > LIMIT:
        faults.append(f"took {seconds:.1f} s of {LIMIT:.1f}")
    if f"rank {rank}" not in text:
        faults.append(f"rank {rank} is not named")
    if kind in ("error", "hang") and "one_f_one_b.sched:" not in text:
        faults.append("no line of the schedule is named")
    if kind == "kill" and "signal 9" not in text:
        faults.append("the signal is not named")
    return faults


def cause(text):
    lines = [l for l in text.splitlines() if not l.startswith("step ")]
    first = [l for l in lines if "first cause" in l] or lines[:1]
    return first[0][:100] if first else "(nothing)"


def interrupt(pprun, program, signal_number):
    """A signal to the launcher ends everything in order."""
    process = subprocess.Popen(
        [pprun, program, "--steps", "100000", "--nproc", "4"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    begin = time.monotonic()
    process.send_signal(signal_number)
    _, text = process.communicate(timeout=60)
    return process.returncode, time.monotonic() - begin, text


def main():
    ppc, pprun, root = sys.argv[1:]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "faults_1f1b.ppb")
        subprocess.run(
            [ppc, "compile", "schedules/one_f_one_b.sched", "-P", "4", "-M",
             "8", "-o", program], cwd=root, check=True, capture_output=True)
        rows = [("inproc", r, k) for r in VICTIMS for k in ("error", "hang")]
        rows += [("gloo", r, k) for r in VICTIMS
                 for k in ("error", "hang", "exit", "kill", "stop")]
        print(f"{'transport':<10}{'rank':>4} {'fault':<7}{'status':>6}"
              f"{'seconds':>9}  said")
        for row in rows:
            status, seconds, text = run(pprun, program, *row)
            faults = check(row, status, seconds, text)
            if left_over(program):
                faults.append("processes are left")
            bad += bool(faults)
            print(f"{row[0]:<10}{row[1]:>4} {row[2]:<7}{status:>6}"
                  f"{seconds:>9.1f}  {cause(text)}"
                  + (f"  WRONG: {'; '.join(faults)}\n{text}" if faults else ""),
                  flush=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            status, seconds, text = interrupt(pprun, program, number)
            wrong = status == 0 or seconds > LIMIT or left_over(program)
            bad += bool(wrong)
            print(f"{'gloo':<10}{'all':>4} {signal.Signals(number).name:<7}"
                  f"{status:>6}{seconds:>9.1f}  {cause(text)}"
                  + (f"  WRONG\n{text}" if wrong else ""), flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
