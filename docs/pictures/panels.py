"""Panels as Grafana has them (stat, bargauge, timeseries, table), drawn as SVG with nothing but the standard library."""
import html
import math

COLOURS = ["#2f6fd0", "#d8663a", "#3a9a4b", "#b08a1c", "#8a58c2", "#21919e", "#c24f86", "#6d7783"]
UNIT_X, UNIT_Y, GAP = 44, 26, 8  # pixels of a unit of Grafana's grid, and between panels
INK, FAINT, LINE = "#23272e", "#6b7280", "#e3e6ea"


def text(x, y, words, size=11, colour=INK, anchor="start", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{html.escape(words)}</text>')


def shown(value, unit):
    """A value in a panel's unit, as short as Grafana's."""
    if unit == "percentunit":
        return f"{value * 100:.0f}%"
    if unit == "bytes":
        for name in ("B", "KiB", "MiB", "GiB", "TiB"):
            if abs(value) < 1024 or name == "TiB":
                return f"{value:.3g} {name}"
            value /= 1024
    suffix = {"h": " h", "cps": "/s", "s": " s"}.get(unit, "")
    return (f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}") + suffix


def top_of(values, unit):
    """The upper end of an axis: a round number at or above all values."""
    largest = max(values, default=0)
    if largest <= 0 or unit == "percentunit" and 0.5 < largest < 1.02:
        return 1.0
    base = 1024.0 if unit == "bytes" else 10.0
    power = base ** math.floor(math.log(largest, base))
    steps = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] if unit == "bytes" else [1, 1.5, 2, 3, 4, 5, 6, 8, 10]
    return next(step for step in steps if step * power >= largest * 0.999) * power


def cut(words, width):
    """Words that fit into so many pixels."""
    room = int(width / 6)
    return words if len(words) <= room else words[:max(room - 1, 1)] + "…"


def keys(lines, width):
    """The rows of a legend: [(line's number, words, x)], as many rows as are needed."""
    rows, x = [[]], 0
    for number, (name, _) in enumerate(lines):
        words = cut(name, width - 20)
        need = 22 + 6 * len(words)
        if rows[-1] and x + need > width:
            rows.append([])
            x = 0
        rows[-1].append((number, words, x))
        x += need
    return rows


def time_series(lines, unit, seconds, width, height):
    rows = keys(lines, width - 20)
    left, right, up, low = 62, width - 12, 30, height - 26 - 15 * len(rows)
    top = top_of([value for _, points in lines for _, value in points], unit)
    out = []
    for part in range(5):
        y = low - (low - up) * part / 4
        out.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{LINE}"/>')
        out.append(text(left - 6, y + 4, shown(top * part / 4, unit), 10, FAINT, "end"))
    for part in range(5):
        x = left + (right - left) * part / 4
        out.append(text(x, low + 14, f"{seconds * part / 4:.0f} s", 10, FAINT, "middle"))
    for number, (_, points) in enumerate(lines):
        path, before = [], None
        for at, value in points:
            begins = before is None or at - before > 2
            x, y = left + (right - left) * at / seconds, low - (low - up) * min(value / top, 1)
            path.append(f"{'M' if begins else 'L'}{x:.1f} {y:.1f}")
            before = at
        out.append(f'<path d="{"".join(path)}" fill="none" stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="1.6"/>')
    for row, entries in enumerate(rows):
        for number, words, x in entries:
            y = low + 30 + 15 * row
            out.append(f'<rect x="{10 + x}" y="{y - 8}" width="10" height="4" fill="{COLOURS[number % len(COLOURS)]}"/>')
            out.append(text(24 + x, y - 2, words, 10))
    return out


def stat(values, unit, panel, width, height):
    words = ", ".join(mapped(value, panel) or shown(value, unit) for _, value in values) or "–"
    return [text(width / 2, height / 2 + 20, words, 30, COLOURS[2], "middle", "bold")]


def mapped(value, panel):
    """The words that a panel has for a value."""
    for mapping in panel.get("fieldConfig", {}).get("defaults", {}).get("mappings", []):
        found = mapping.get("options", {}).get(f"{value:g}")
        if found:
            return found["text"]
    return None


def bar_gauge(values, unit, width, height):
    out, each = [], (height - 36) / max(len(values), 1)
    for number, (name, value) in enumerate(values):
        y, room = 32 + each * number, width - 90
        out.append(text(12, y + 12, cut(name, width - 24), 10))
        thick = max(min(each - 22, 14), 4)
        out.append(f'<rect x="12" y="{y + 17:.1f}" width="{room}" height="{thick:.1f}" fill="{LINE}"/>')
        colour = COLOURS[1] if value > 0.9 else COLOURS[2]
        out.append(f'<rect x="12" y="{y + 17:.1f}" width="{room * min(value, 1):.1f}" height="{thick:.1f}" fill="{colour}"/>')
        out.append(text(width - 12, y + 17 + thick, shown(value, unit), 11, INK, "end", "bold"))
    return out


def table(heads, rows, width, height):
    places, x = [], 12.0
    needed = [max(len(str(row[column])) for row in [heads, *rows]) for column in range(len(heads))]
    for need in needed:
        places.append(x)
        x += (width - 24) * need / max(sum(needed), 1)
    out = [text(at, 42, head, 10, FAINT) for at, head in zip(places, heads)]
    for number, row in enumerate(rows[:int((height - 52) / 16)]):
        y = 60 + 16 * number
        out.append(f'<line x1="12" x2="{width - 12}" y1="{y - 13}" y2="{y - 13}" stroke="{LINE}"/>')
        out += [text(at, y, words, 10) for at, words in zip(places, row)]
    return out


def placed(panel, inner):
    """A panel's frame, title and content, at its place in the grid."""
    place = panel["gridPos"]
    width, height = size_of(panel)
    frame = f'<rect width="{width}" height="{height}" rx="3" fill="white" stroke="{LINE}"/>'
    title = text(12, 20, panel["title"], 12, INK, "start", "bold")
    return (f'<g transform="translate({place["x"] * UNIT_X + GAP},{place["y"] * UNIT_Y + GAP})">\n'
            + "\n".join([frame, title, *inner]) + "\n</g>")


def size_of(panel):
    place = panel["gridPos"]
    return place["w"] * UNIT_X - GAP, place["h"] * UNIT_Y - GAP


def draw_table(panel, heads, rows):
    return placed(panel, table(heads, rows, *size_of(panel)))


def draw(panel, values, seconds):
    """One panel as an SVG group. `values`: lines if it has a time axis, else values of now, each with its legend."""
    width, height = size_of(panel)
    unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit", "")
    kinds = {
        "timeseries": lambda: time_series(values, unit, seconds, width, height),
        "stat": lambda: stat(values, unit, panel, width, height),
        "bargauge": lambda: bar_gauge(values, unit, width, height),
    }
    nothing = [text(width / 2, height / 2 + 8, "No data", 13, FAINT, "middle")]
    return placed(panel, kinds[panel["type"]]() if values else nothing)


def page(board, drawn):
    """The whole picture."""
    width = 24 * UNIT_X + GAP
    height = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in board["panels"]) * UNIT_Y + 40
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="system-ui, sans-serif">\n<rect width="100%" height="100%" fill="#f4f5f7"/>\n'
            f'{text(GAP + 4, 24, board["title"], 15, INK, "start", "bold")}\n<g transform="translate(0,32)">\n'
            + "\n".join(drawn) + "\n</g>\n</svg>\n")
