"""The runner itself: what is missed and what is wrong ends with a clear word.

usage: runner_test.py RUN BUILD
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN, BUILD = sys.argv[1:3]

GOOD = {
    "title": "t", "source": "s",
    "groups": [{"schedules": ["gpipe"], "P": "2,4", "M": [4, 8]}],
    "columns": ["schedule", "P", {"title": "bubble", "value": "bubble_fraction",
                                  "format": ".2%"}],
    "checks": [{"value": "bubble_fraction", "equals": "(P-1)/(M+P-1)"}],
    "plot": {"x": "M", "y": "bubble_fraction", "series": "P"},
}


class Runner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def run_it(self, spec, *more):
        file = self.path / "mine.json"
        file.write_text(spec if isinstance(spec, str) else json.dumps(spec))
        return subprocess.run(
            [sys.executable, RUN, str(file), "--build", BUILD, "--out",
             str(self.path / "out"), *more], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def fails(self, status, words, spec, *more):
        done = self.run_it(spec, *more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_writes_table_csv_and_plot(self):
        done = self.run_it(GOOD)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| gpipe | 4 | 27.27% |", done.stdout)
        self.assertIn("4 of 4 checks hold", done.stdout)
        out = self.path / "out" / "mine"
        self.assertEqual(len((out / "result.csv").read_text().splitlines()), 5)
        self.assertIn("<polyline", (out / "plot.svg").read_text())

    def test_a_missed_value_is_told_with_both_numbers(self):
        spec = {**GOOD, "checks": [{"value": "makespan", "equals": "14",
                                    "when": "P == 2 and M == 4",
                                    "says": "published"}]}
        self.fails(1, "mine: gpipe P=2 M=4: `makespan` is 15, published 14", spec)

    def test_four_digits_are_compared_as_printed(self):
        spec = {**GOOD, "checks": [{"value": "bubble_fraction", "equals": "0.2",
                                    "digits": 4, "when": "P == 2 and M == 4"}]}
        self.assertEqual(self.run_it(spec).returncode, 0)
        spec["checks"][0]["equals"] = "0.2001"
        self.fails(1, "is 0.2, expected 0.2001", spec)

    def test_goes_on_where_it_was_stopped(self):
        broken = {**GOOD, "checks": [{"value": "nothing", "equals": 1,
                                      "when": "M == 8"}]}
        self.fails(1, "name 'nothing' is not defined", broken)
        saved = self.path / "out" / "mine" / "rows.jsonl"
        self.assertEqual(len(saved.read_text().splitlines()), 2)
        with saved.open("a") as file:
            file.write('{"key": "cut of')  # as a kill leaves it
        self.assertEqual(self.run_it(GOOD).returncode, 0)
        self.assertFalse(saved.exists())

    def test_files_that_are_wrong(self):
        self.fails(1, "mine.json: Expecting", "{")
        self.fails(1, "`colums` is not known", {**GOOD, "colums": []})
        self.fails(1, "`source` is missing", {"title": "t", "groups": []})
        self.fails(1, "group 1: `Q` is not known",
                   {**GOOD, "groups": [{"schedules": ["gpipe"], "Q": 2}]})
        self.fails(1, "no schedule `gpip`",
                   {**GOOD, "groups": [{"schedules": ["gpip"], "P": 2, "M": 2}]})
        self.fails(1, "`4..x` is no number", {**GOOD, "groups": [
            {"schedules": ["gpipe"], "P": "4..x", "M": 2}]})
        self.fails(1, "nothing was checked", {**GOOD, "checks": []})
        self.fails(1, "has no place in an expression", {**GOOD, "checks": [
            {"value": "(lambda: 1)()", "equals": 1}]})
        self.fails(1, "no such field `__class__`", {**GOOD, "checks": [
            {"value": "P.__class__", "equals": 1}]})
        self.fails(1, "cost cannot be negative", {**GOOD, "groups": [
            {"schedules": ["gpipe"], "P": 2, "M": 2, "cost": "F=-1"}]})

    def test_usage(self):
        done = subprocess.run([sys.executable, RUN], stderr=subprocess.PIPE,
                              text=True)
        self.assertEqual(done.returncode, 2)
        self.fails(2, "not allowed with", GOOD, "--simulated", "--measured")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
