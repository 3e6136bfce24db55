"""Results as CSV, Markdown and SVG."""

import csv
import html
import math

from expression import evaluate


def cell(value, form):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(cell(v, form) for v in value)
    if value is None:
        return "-"
    if isinstance(value, float) and form:
        return format(value, form)
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def columns_of(spec, rows):
    """[(title, [cell of each row])]; a column is {title, value, format}."""
    out = []
    for column in spec["columns"]:
        if isinstance(column, str):
            column = {"title": column, "value": column}
        where = f"column `{column['title']}`"
        cells = []
        for row in rows:
            noisy = row.get("noisy") and "measured" in str(column["value"])
            if column.get("when") and not evaluate(column["when"], row, where):
                cells.append("-")
            else:
                cells.append("noisy" if noisy else cell(
                    evaluate(column["value"], row, where), column.get("format")))
        out.append((column["title"], cells))
    return out


def markdown(columns):
    titles = [title for title, _ in columns]
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for cells in zip(*(cells for _, cells in columns)):
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write_csv(path, rows):
    keys = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(keys)
        for row in rows:
            writer.writerow([cell(row.get(key, ""), ".12g") for key in keys])


COLOURS = ("#3b78c4", "#d2722b", "#3f9a56", "#8a5bb0", "#b8494f", "#7a6a52",
           "#c76fa8", "#6b6b6b", "#a8a02c", "#2f9fae")


def nice_ticks(low, high):
    step = 10 ** math.floor(math.log10((high - low) / 4 or 1))
    while (high - low) / step > 7:
        step *= 2 if str(step)[0] != "2" else 2.5
    first = math.ceil(low / step - 1e-9) * step
    return [first + i * step for i in range(int((high - first) / step + 1e-9) + 1)]


class Axis:
    def __init__(self, values, begin, end, log):
        self.log = log and min(values) > 0
        self.low = min(values) if self.log else min(0, min(values))
        self.high = max(values)
        if self.high == self.low:
            self.high = self.low + 1
        self.begin, self.end = begin, end

    def scale(self, value):
        f = math.log if self.log else (lambda v: v)
        part = (f(value) - f(self.low)) / (f(self.high) - f(self.low))
        return self.begin + part * (self.end - self.begin)

    def ticks(self):
        if not self.log:
            return nice_ticks(self.low, self.high)
        first = math.ceil(math.log2(self.low) - 1e-9)
        last = math.floor(math.log2(self.high) + 1e-9)
        step = max(1, (last - first) // 8 + 1)
        return [2.0 ** e for e in range(first, last + 1, step)] or [self.low]


def series_of(plot, rows):
    series = {}
    for row in rows:
        if plot.get("when") and not evaluate(plot["when"], row, "plot, `when`"):
            continue
        name = evaluate(plot["series"], row, "plot, `series`")
        if isinstance(name, (tuple, list)):
            name = " ".join(str(n) for n in name).replace("= ", "=")
        y = evaluate(plot["y"], row, "plot, `y`")
        x = evaluate(plot["x"], row, "plot, `x`")
        if isinstance(x, (int, float)) and isinstance(y, (int, float)):
            series.setdefault(str(name), []).append((x, y))
    return {name: sorted(points) for name, points in series.items()}


def svg(plot, title, rows):
    """Lines with marks; the legend on the right."""
    series = series_of(plot, rows)
    if not series:
        return None
    width, height, left, top, right, bottom = 760, 400, 70, 40, 190, 50
    x = Axis([p[0] for s in series.values() for p in s], left, width - right,
             plot.get("log_x", False))
    y = Axis([p[1] for s in series.values() for p in s], height - bottom, top,
             plot.get("log_y", False))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} '
           f'{height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="22" font-size="14">{html.escape(title)}</text>']
    for tick in x.ticks():
        at = x.scale(tick)
        out.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{top}" '
                   f'y2="{height - bottom}" stroke="#e4e4e4"/><text x="{at:.1f}" '
                   f'y="{height - bottom + 16}" text-anchor="middle">{tick:g}</text>')
    for tick in y.ticks():
        at = y.scale(tick)
        out.append(f'<line y1="{at:.1f}" y2="{at:.1f}" x1="{left}" '
                   f'x2="{width - right}" stroke="#e4e4e4"/><text x="{left - 6}" '
                   f'y="{at + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for axis, place in ((plot.get("x_title", plot["x"]),
                         f'x="{(left + width - right) / 2}" y="{height - 12}" '
                         'text-anchor="middle"'),
                        (plot.get("y_title", plot["y"]),
                         f'transform="translate(16 {(top + height - bottom) / 2}) '
                         'rotate(-90)" text-anchor="middle"')):
        out.append(f"<text {place}>{html.escape(str(axis))}</text>")
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        dash = "" if i < len(COLOURS) else ' stroke-dasharray="5 3"'
        path = " ".join(f"{x.scale(a):.1f},{y.scale(b):.1f}" for a, b in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                   f'stroke-width="1.6"{dash}/>')
        out += [f'<circle cx="{x.scale(a):.1f}" cy="{y.scale(b):.1f}" r="2.6" '
                f'fill="{colour}"/>' for a, b in points]
        at = top + 6 + 16 * i
        out.append(f'<rect x="{width - right + 14}" y="{at}" width="12" '
                   f'height="4" fill="{colour}"/><text x="{width - right + 32}" '
                   f'y="{at + 6}">{html.escape(name)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"
