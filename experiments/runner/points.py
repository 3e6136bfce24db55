"""From the groups of an experiment file to points, and from a point to a row."""

import csv
import hashlib
import itertools
import json
import pathlib
import statistics
import subprocess
import tempfile

from expression import Fault, Row, evaluate, fill

# A measured point whose repeats spread more than this says so instead of
# giving a number: third less first quartile, over the median.
MOST_SPREAD = 0.10

GROUP_KEYS = {"schedules", "P", "M", "grid", "rows", "let", "when", "cost",
              "mem", "barrier", "run", "optional"}


def numbers(value, where):
    """4, "2..8", "4,8..10" or a list of them -> a list."""
    if isinstance(value, list):
        return value
    if not isinstance(value, str):
        return [value]
    out = []
    for part in value.split(","):
        first, _, last = part.partition("..")
        try:
            out += range(int(first), int(last or first) + 1)
        except ValueError:
            raise Fault(f"{where}: `{part}` is no number and no range") from None
    return out


def parse_cell(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Tools:
    """Where the programs and schedules are."""

    def __init__(self, build, root):
        self.ppc = pathlib.Path(build) / "bin" / "ppc"
        self.pprun = pathlib.Path(build) / "bin" / "pprun"
        self.root = pathlib.Path(root)
        self.schedules = self.root / "schedules"
        for program in (self.ppc, self.pprun):
            if not program.exists():
                raise Fault(f"{program} is not there; build it or give --build")
        self.digest = hashlib.sha256(
            self.ppc.read_bytes() +
            pathlib.Path(__file__).read_bytes()).hexdigest()[:16]

    def call(self, command):
        done = subprocess.run([str(c) for c in command], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            shown = " ".join(str(c) for c in command)
            raise Fault(f"`{shown}` ended with {done.returncode}:\n{done.stderr}")
        return done.stdout


def check_keys(group, where):
    for key in group:
        if key not in GROUP_KEYS:
            raise Fault(f"{where}: `{key}` is not known; known are "
                        f"{', '.join(sorted(GROUP_KEYS))}")


def expand_group(group, folder, where):
    """The points of a group, in the order they are written."""
    check_keys(group, where)
    axes = {}
    if "schedules" not in group:
        raise Fault(f"{where}: `schedules` is missing")
    axes["schedule"] = group["schedules"]
    for key in ("P", "M"):
        if key in group:
            axes[key] = numbers(group[key], f"{where}, `{key}`")
    for key, value in group.get("grid", {}).items():
        axes[key] = numbers(value, f"{where}, `grid`, `{key}`")
    rows = [{}]
    if "rows" in group:
        path = folder / group["rows"]
        with path.open(newline="") as file:
            rows = [{k: parse_cell(v) for k, v in row.items()}
                    for row in csv.DictReader(file)]
        if not rows:
            raise Fault(f"{where}: {path} has no rows")
    for row in rows:
        for values in itertools.product(*axes.values()):
            point = Row(row)
            point.update(zip(axes.keys(), values))
            for name, text in group.get("let", {}).items():
                point[name] = evaluate(text, point, f"{where}, `let`, `{name}`")
            if evaluate(group.get("when", True), point, f"{where}, `when`"):
                yield point


def arguments(tools, group, point, where):
    """The command line of `ppc simulate` for a point, without the program."""
    path = tools.schedules / f"{point['schedule']}.sched"
    out = [path, "-P", int(point["P"]), "-M", int(point["M"])]
    # A point may carry names that the schedule has no parameter for.
    text = path.read_text()
    head = text[text.index(f"schedule {point['schedule']}("):].split("{", 1)[0]
    for name, value in point.items():
        if name not in ("P", "M") and f" {name} = " in head:
            out += ["-D", f"{name}={value}"]
    if "cost" in group:
        out += ["--cost", fill(group["cost"], point, f"{where}, `cost`")]
    if "mem" in group:
        out += ["--mem", fill(group["mem"], point, f"{where}, `mem`")]
    return out


def simulate(tools, group, point, where):
    args = arguments(tools, group, point, where)
    command = [tools.ppc, "simulate", *args, "--json"]
    if "barrier" in group:
        command += ["--barrier", group["barrier"]]
    result = json.loads(tools.call(command))
    row = Row(point)
    row["command"] = "ppc simulate " + " ".join(
        str(a.relative_to(tools.root) if isinstance(a, pathlib.Path) else a)
        for a in args) + (" --barrier off" if group.get("barrier") == "off" else "")
    for key, value in result.items():
        if key not in ("schedule", "P", "M", "params", "ranks", "costs"):
            row[key] = value
    for key in ("busy", "idle", "peak_activations", "peak_bytes",
                "messages_sent", "bytes_sent"):
        row[key] = [rank[key] for rank in result["ranks"]]
    if "period" in row:
        row["period"] = row["period"]["time"] / row["period"]["steps"]
    row["messages"] = sum(row["messages_sent"])
    row["is_measured"] = False
    if "bytes" in result["ranks"][0]:
        row["activation_bytes"] = [rank["bytes"]["activations"]
                                   for rank in result["ranks"]]
    for key, value in result["costs"].items():
        row.setdefault("cost_" + key, value)
    return row


def quartiles(values):
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return ordered[quarter], ordered[-1 - quarter]


def measure(tools, group, point, where):
    """Simulated and run: `repeats` times, each a process of its own."""
    row = simulate(tools, group, point, where)
    run = group["run"]
    args = arguments(tools, group, point, where)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program.ppb"
        report = pathlib.Path(folder) / "run.json"
        tools.call([tools.ppc, "compile", *args, "-o", program])
        command = [tools.pprun, program, "--report", report,
                   "--steps", run.get("steps", 6)]
        for key, value in run.get("options", {}).items():
            command += [f"--{key}", tools.root / value if key == "data" else value]
        for key, value in run.get("model_options", {}).items():
            command += ["--model-opt", f"{key}={fill(value, point, where)}"]
        costs = pathlib.Path(folder) / "costs.json"
        if run.get("profile"):
            command += ["--profile", costs]
        reports = []
        for _ in range(run.get("repeats", 3)):
            tools.call(command)
            reports.append(json.loads(report.read_text()))
        if run.get("profile"):
            row["predicted_makespan"] = json.loads(tools.call(
                [tools.ppc, "simulate", *args, "--json", "--cost", costs]))["makespan"]
    return add_measured(row, reports)


def add_measured(row, reports):
    median = lambda key: statistics.median(r[key] for r in reports)
    for key in ("bubble_fraction", "bubble_overhead", "bubble_longest_stage",
                "makespan_s", "step_time_s"):
        row["measured_" + key] = median(key)
    low, high = quartiles([r["makespan_s"] for r in reports])
    within = statistics.median(r["makespan_spread"] for r in reports)
    row["spread"] = max(within, (high - low) / row["measured_makespan_s"])
    row["noisy"] = row["spread"] > MOST_SPREAD
    row["repeats"] = len(reports)
    row["is_measured"] = True
    row["steps"] = len(reports[0]["steps"])
    row["machine"] = "{cpu}, {cores} cores, {system}".format(**reports[0]["machine"])
    for key in ("peak_activations", "peak_bytes_measured",
                "peak_bytes_predicted"):
        row["measured_" + key if key == "peak_activations" else key] = [
            max(r["ranks"][i][key] for r in reports)
            for i in range(len(reports[0]["ranks"]))]
    return row


class Store:
    """Rows that are done, so that a run that was stopped goes on."""

    def __init__(self, path, fresh):
        self.path = path
        self.rows = {}
        if fresh:
            path.unlink(missing_ok=True)
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                    self.rows[entry["key"]] = Row(entry["row"])
                except (ValueError, KeyError):
                    continue  # the line on which it was stopped

    def key(self, tools, group, point):
        schedule = tools.schedules / f"{point['schedule']}.sched"
        sources = sorted(tools.schedules.glob("*.sched"))
        text = hashlib.sha256(b"".join(s.read_bytes() for s in sources))
        return hashlib.sha256(json.dumps(
            [tools.digest, text.hexdigest(), str(schedule), group, point],
            sort_keys=True).encode()).hexdigest()[:24]

    def get(self, key):
        return self.rows.get(key)

    def put(self, key, row):
        self.rows[key] = row
        with self.path.open("a") as file:
            file.write(json.dumps({"key": key, "row": row}) + "\n")
