"""The library as a table: every schedule swept over a grid, and simulated at
two points with F = I = W = 1, B = 2, transfers free. At P = 4, M = 8 the values
are held against published or independently simulated ones.

    schedule_table.py PPC ROOT
"""

import json
import pathlib
import re
import subprocess
import sys

GRID = "P=1..8,M=1..32"
POINTS = ((4, 8), (8, 32))

# At P = 4, M = 8 (v = 2): makespan, bubble, the longest stage's bubble, peak
# activations of each rank in micro-batches, messages.
EXPECTED = {
    "gpipe": (33, 9, 9, [8, 8, 8, 8], 48),
    "one_f_one_b": (33, 9, 9, [4, 3, 2, 1], 48),
    "eager_1f1b": (33, 9, 9, [7, 5, 3, 1], 48),
    "zb_h1": (27, 3, 3, [4, 4, 4, 4], 48),
    "zb_h2": (27, 3, 0, [7, 7, 7, 7], 48),
    "interleaved": (57, 9, 9, [5.5, 4.5, 3.5, 2.5], 112),
    "interleaved_groups": (57, 9, 9, [5.5, 4.5, 3.5, 2.5], 112),
    "interleaved_zb": (51, 3, 3, [4, 4, 4, 4], 112),
    "breadth_first": (57, 9, 9, [8, 8, 8, 8], 112),
    "hanayo": (66, 18, 18, [2.5, 3, 3.5, 4], 96),
    "v_half": (53, 5, 5, [3, 3, 3, 3], 96),
    "v_min": (59, 11, 11, [2, 2, 2, 2], 96),
    "dualpipe_v": (54, 6, 6, [4.5, 4.5, 4.5, 4.5], 96),
    "zb_v": (51, 3, 0, [4, 4, 4, 4], 96),
}


def ask(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def simulate(ppc, path, ranks, micro_batches):
    told = json.loads(ask(ppc, "simulate", path, "-P", str(ranks), "-M",
                          str(micro_batches), "--json"))
    work = max(rank["busy"] for rank in told["ranks"])
    stage = told["bubble_longest_stage"]
    return (told["makespan"], told["makespan"] - work,
            round(stage * work / (1 - stage), 6),
            [rank["peak_activations"] for rank in told["ranks"]],
            sum(rank["messages_sent"] for rank in told["ranks"]))


def row(ppc, path):
    swept = ask(ppc, "check", path, "--for", GRID)
    points, held = (re.search(rf"(\d+) {word}", swept).group(1)
                    for word in ("accepted", "expectations hold"))
    cells, wrong = [path.stem, points, held], None
    for point in POINTS:
        got = simulate(ppc, path, *point)
        cells += [f"{got[0]:g}", f"{got[1]:g}", f"{got[2]:g}",
                  f"{max(got[3]):g}", str(got[4])]
        if point == (4, 8) and got != EXPECTED.get(path.stem):
            wrong = f"{path.stem}: {got}, expected {EXPECTED.get(path.stem)}"
    print("| " + " | ".join(cells) + " |")
    return wrong


def main():
    ppc, root = sys.argv[1:]
    head = ["schedule", "points", "expectations"]
    for ranks, micro_batches in POINTS:
        head += [f"P={ranks} M={micro_batches}: makespan", "bubble",
                 "longest stage", "peak", "messages"]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    paths = sorted(pathlib.Path(root, "schedules").glob("*.sched"))
    wrong = [said for said in (row(ppc, path) for path in paths) if said]
    if wrong:
        sys.exit("\n".join(wrong))


main()
