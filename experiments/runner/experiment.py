"""One experiment: its points made rows, its checks held against them."""

import json
import math
import pathlib
import sys

import output
import points
from expression import Fault, Row, evaluate

KEYS = {"title", "claim", "source", "groups", "columns", "checks", "plot",
        "claims", "not_reached"}


def load(path):
    try:
        spec = json.loads(path.read_text())
    except ValueError as error:
        raise Fault(f"{path}: {error}") from None
    if not isinstance(spec, dict):
        raise Fault(f"{path}: the file is no object")
    for key in spec:
        if key not in KEYS:
            raise Fault(f"{path}: `{key}` is not known; known are "
                        f"{', '.join(sorted(KEYS))}")
    for key in ("title", "source"):
        if key not in spec:
            raise Fault(f"{path}: `{key}` is missing")
    if "claims" not in spec and not ("groups" in spec and "columns" in spec):
        raise Fault(f"{path}: neither `claims` nor `groups` and `columns`")
    return spec


class Progress:
    """One line that is written over, where a person looks on."""

    def __init__(self, total, title):
        self.total, self.title, self.done = total, title, 0
        self.live = sys.stderr.isatty()

    def step(self, what):
        self.done += 1
        if self.live:
            text = f"{self.title}: {self.done}/{self.total} {what}"
            print("\r" + text[:110].ljust(110), end="", file=sys.stderr, flush=True)

    def end(self):
        if self.live:
            print("\r" + " " * 110 + "\r", end="", file=sys.stderr, flush=True)


def close(got, wanted, tolerance):
    if isinstance(wanted, (list, tuple)):
        return (isinstance(got, (list, tuple)) and len(got) == len(wanted) and
                all(close(g, w, tolerance) for g, w in zip(got, wanted)))
    if isinstance(wanted, (int, float)) and isinstance(got, (int, float)):
        return math.isclose(got, wanted, rel_tol=1e-9, abs_tol=tolerance)
    return got == wanted


def name_of(row):
    return " ".join(str(row[k]) if k == "schedule" else f"{k}={row[k]}"
                    for k in ("model", "schedule", "P", "M", "v", "t", "d", "c")
                    if k in row)


class Experiment:
    def __init__(self, path, tools, options):
        self.path, self.tools, self.options = path, tools, options
        self.name = path.parent.name if path.name == "experiment.json" else path.stem
        self.spec = load(path)
        self.missed, self.checked = [], 0

    def wanted(self, group):
        measured = "run" in group
        if measured and self.options.simulated:
            return False
        return measured or not self.options.measured

    def present(self, group, where):
        """Without the schedules that the library does not have (yet)."""
        there, lacking = [], []
        for schedule in group.get("schedules", []):
            path = self.tools.schedules / f"{schedule}.sched"
            (there if path.exists() else lacking).append(schedule)
        if lacking and not group.get("optional"):
            raise Fault(f"{where}: no schedule `{lacking[0]}` in schedules/")
        for schedule in lacking:
            print(f"not reached: schedules/{schedule}.sched is not there")
        return {**group, "schedules": there}

    def all_points(self):
        out = []
        for i, group in enumerate(self.spec.get("groups", [])):
            where = f"{self.path}: group {i + 1}"
            if not self.wanted(group):
                continue
            group = self.present(group, where)
            found = list(points.expand_group(group, self.path.parent, where))
            if not found and group["schedules"]:
                raise Fault(f"{where}: no point is left")
            out += [(group, point, where, i) for point in found]
        return out

    def make_row(self, store, group, point, where):
        key = store.key(self.tools, group, point)
        row = store.get(key)
        if row is None:
            make = points.measure if "run" in group else points.simulate
            row = make(self.tools, group, point, where)
            store.put(key, row)
        return row

    def check(self, check, names, subject, where):
        if not evaluate(check.get("when", True), names, where):
            return
        self.checked += 1
        got = evaluate(check["value"], names, where)
        wanted = evaluate(check["equals"], names, where)
        digits = check.get("digits")
        if digits is not None:
            good = f"{got:.{digits}f}" == f"{wanted:.{digits}f}"
        else:
            good = close(got, wanted, check.get("tolerance", 1e-9))
        measured = "measured" in str(check["value"])
        if measured and names.get("noisy"):
            self.missed.append(f"{subject}: too noisy to say: the runs spread "
                               f"{100 * names['spread']:.0f} %")
        elif not good:
            self.missed.append(
                f"{subject}: `{check['value']}` is {output.cell(got, '.9g')}, "
                f"{check.get('says', 'expected')} {output.cell(wanted, '.9g')}")

    def run(self, out):
        print(f"\n## {self.spec['title']}\n")
        if "claim" in self.spec:
            print(self.spec["claim"] + "\n")
        folder = pathlib.Path(out) / self.name
        folder.mkdir(parents=True, exist_ok=True)
        part = ("-measured" if self.options.measured else
                "-simulated" if self.options.simulated else "")
        store = points.Store(folder / f"rows{part}.jsonl", self.options.fresh)
        text = self.tables(store, folder, part)
        text += self.claims(store)
        for line in self.spec.get("not_reached", []):
            text += f"\nNot reached: {line}\n"
        print(text)
        (folder / f"result{part}.md").write_text(
            f"# {self.spec['title']}\n\nSource: {self.spec['source']}\n\n{text}")
        store.path.unlink(missing_ok=True)  # done: nothing to go on from
        return self.conclude(folder)

    def tables(self, store, folder, part):
        todo = self.all_points()
        progress = Progress(len(todo), self.name)
        rows, groups = [], []
        for group, point, where, index in todo:
            progress.step(name_of(point))
            row = self.make_row(store, group, point, where)
            row["group"] = index + 1
            rows.append(row)
            for check in self.spec.get("checks", []):
                self.check(check, row, name_of(row), f"{self.path}: check")
        progress.end()
        if not rows:
            return ""
        output.write_csv(folder / f"result{part}.csv", rows)
        if "plot" in self.spec:
            picture = output.svg(self.spec["plot"], self.spec["title"], rows)
            if picture:
                (folder / f"plot{part}.svg").write_text(picture)
        machines = sorted({row["machine"] for row in rows if "machine" in row})
        text = output.markdown(output.columns_of(self.spec, rows))
        for machine in machines:
            text += f"\nMeasured on {machine}; medians.\n"
        return text

    def claims(self, store):
        text = ""
        for claim in self.spec.get("claims", []):
            where = f"{self.path}: claim {claim.get('id')}"
            for key in ("id", "said", "verdict", "right"):
                if key not in claim:
                    raise Fault(f"{where}: `{key}` is missing")
            names, commands = Row(), []
            for name, group in claim.get("points", {}).items():
                group = {**group, "schedules": [group["schedule"]]}
                del group["schedule"]
                found = list(points.expand_group(group, self.path.parent, where))
                row = self.make_row(store, group, found[0], where)
                names[name] = row
                commands.append(row["command"])
            before = len(self.missed)
            for check in claim.get("checks", []):
                self.check(check, names, f"claim {claim['id']}", where)
            outcome = "" if len(self.missed) == before else " **MISSED**"
            text += (f"{claim['id']}. \"{claim['said']}\"{outcome}\n"
                     f"   **{claim['verdict']}.** {claim['right']}\n")
            for check in claim.get("checks", []):
                got = evaluate(check["value"], names, where)
                text += f"   `{check['value']}` = {output.cell(got, '.6g')}\n"
            for command in commands:
                text += f"   `{command}`\n"
        return text

    def conclude(self, folder):
        for line in self.missed:
            print(f"missed: {self.name}: {line}", file=sys.stderr)
        if self.checked == 0 and (self.spec.get("groups") and
                                  not self.options.measured):
            raise Fault(f"{self.path}: nothing was checked")
        print(f"{self.name}: {self.checked - len(self.missed)} of "
              f"{self.checked} checks hold; written to {folder}")
        return not self.missed
