"""Expressions of experiment files: Python's arithmetic, and nothing else.

Names are the fields of a row; a row of a claim is reached as `name.field`.
"""

import ast
import math


class Fault(Exception):
    """What is wrong with an experiment, worded for its author."""


FUNCTIONS = {
    "min": min, "max": max, "abs": abs, "sum": sum, "len": len, "round": round,
    "range": range, "ceil": math.ceil, "floor": math.floor, "log2": math.log2,
    "all": all, "any": any, "mean": lambda values: sum(values) / len(values),
}

ALLOWED = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call,
    ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Subscript, ast.Attribute,
    ast.IfExp, ast.ListComp, ast.GeneratorExp, ast.comprehension,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Load, ast.Store,
)


class Row(dict):
    """A row whose fields are attributes of an expression."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise Fault(f"there is no `{name}`; there are {', '.join(sorted(self))}")


def evaluate(text, names, where):
    """The value of `text`; Fault with `where` for anything that has none."""
    if not isinstance(text, str):
        return text
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise Fault(f"{where}: `{text}`: {error.msg}") from None
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            raise Fault(f"{where}: `{text}`: {type(node).__name__} has no place "
                        "in an expression")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise Fault(f"{where}: `{text}`: no such field `{node.attr}`")
    try:
        return eval(compile(tree, where, "eval"),  # only what ALLOWED lets by
                    {"__builtins__": {}, **FUNCTIONS, **names})
    except NameError as error:
        raise Fault(f"{where}: `{text}`: {error}") from None
    except Fault as error:
        raise Fault(f"{where}: `{text}`: {error}") from None
    except (ArithmeticError, TypeError, ValueError, IndexError) as error:
        raise Fault(f"{where}: `{text}`: {error}") from None


def decimal(value):
    """A number as costs take it: at most six digits after the point."""
    if isinstance(value, (int, float)):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return str(value)


def fill(template, names, where):
    """`F={4/v},B=2` with each brace evaluated."""
    parts = []
    rest = template
    while "{" in rest:
        before, rest = rest.split("{", 1)
        if "}" not in rest:
            raise Fault(f"{where}: `{template}`: `{{` is not closed")
        inner, rest = rest.split("}", 1)
        parts += [before, decimal(evaluate(inner, names, where))]
    return "".join(parts) + rest
