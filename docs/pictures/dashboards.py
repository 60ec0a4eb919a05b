"""Draws Grafana's dashboards as SVG files, from what a Prometheus answers to their queries.

usage: dashboards.py URL SECONDS DASHBOARD.json…: the last SECONDS of the Prometheus at URL, into files beside this one.
"""
import json
import pathlib
import re
import sys
import time
import urllib.parse
import urllib.request

import panels

STEP = 1  # seconds between two points, as the lab's Prometheus scrapes


def answer(url, path, **query):
    """What Prometheus's HTTP API says."""
    with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(query)}") as reply:
        return json.load(reply)["data"]["result"]


def filled(expression, seconds):
    """The expression with what Grafana puts in for its variables."""
    expression = re.sub(r'\$(instance|gpu|container)"', '.*"', expression)
    return expression.replace("$__rate_interval", "8s").replace("$__range", f"{seconds}s")


def legend(pattern, labels):
    """Grafana's legend: {{label}} is replaced by the label's value. Without a pattern: all labels."""
    if not pattern:
        return ", ".join(f"{name} {value}" for name, value in sorted(labels.items()) if name not in ("__name__", "job"))
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda match: labels.get(match[1], ""), pattern)


def series_of(url, panel, end, seconds):
    """A panel's lines: (legend, [(seconds from the beginning, value)]), sorted by legend."""
    lines = []
    for target in panel.get("targets", []):
        results = answer(url, "query_range", query=filled(target["expr"], seconds), start=end - seconds, end=end, step=STEP)
        for result in results:
            # A quantile of nothing is NaN; Grafana leaves it out.
            points = [(float(at) - (end - seconds), float(value)) for at, value in result["values"] if value != "NaN"]
            if points:
                lines.append((legend(target.get("legendFormat"), result["metric"]), points))
    return sorted(lines)


def values_of(url, panel, end, seconds):
    """The values of now, for panels without a time axis: [(legend, value)]."""
    return sorted((legend(target.get("legendFormat"), result["metric"]), float(result["value"][1]))
                  for target in panel["targets"]
                  for result in answer(url, "query", query=filled(target["expr"], seconds), time=end))


def rows_of(url, panel, end, seconds):
    """A table as Grafana's transformations "merge" and "organize" make it: its heads, and a list of its rows."""
    organize = next(each["options"] for each in panel["transformations"] if each["id"] == "organize")
    rows = []
    for target in panel["targets"]:
        for result in answer(url, "query", query=filled(target["expr"], seconds), time=end):
            found = {**result["metric"], f"Value #{target['refId']}": f"{float(result['value'][1]):g}"}
            fits = [row for row in rows if all(row.get(name, value) == value for name, value in found.items())]
            if fits:
                fits[0].update(found)
            else:
                rows.append(found)
    columns = [name for name in organize["indexByName"] if name not in organize["excludeByName"]]
    heads = [organize["renameByName"].get(name, name) for name in columns]
    return heads, sorted([row.get(name, "") for name in columns] for row in rows)


def drawn(url, panel, end, seconds):
    """A panel as an SVG group."""
    if panel["type"] == "timeseries":
        return panels.draw(panel, series_of(url, panel, end, seconds), seconds)
    if panel["type"] == "table":
        return panels.draw_table(panel, *rows_of(url, panel, end, seconds))
    return panels.draw(panel, values_of(url, panel, end, seconds), seconds)


def main():
    url, seconds = sys.argv[1], int(sys.argv[2])
    end = time.time()
    for file in sys.argv[3:]:
        board = json.loads(pathlib.Path(file).read_text())
        parts = [drawn(url, panel, end, seconds) for panel in board["panels"]]
        picture = pathlib.Path(__file__).parent / (pathlib.Path(file).stem + ".svg")
        picture.write_text(panels.page(board, parts))
        print(f"{picture.name}: {len(parts)} panels")


main()
