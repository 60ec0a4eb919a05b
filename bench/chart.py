"""Draws lines over time as an SVG picture, with nothing but the standard library."""
import html

COLOURS = ["#3366cc", "#dc3912", "#109618", "#ff9900", "#990099", "#0099c6", "#dd4477", "#66aa00"]
WIDTH, HEIGHT, LEFT, TOP, GAP = 640, 160, 50, 30, 40


def panel(title, times, lines, dues, offset):
    """Draw one chart: `lines` of values 0..100 at `times` (seconds), `dues` as dashed lines."""
    span = max(times[-1] - times[0], 1e-9)
    x = lambda t: LEFT + (t - times[0]) / span * (WIDTH - LEFT - 10)
    y = lambda v: offset + TOP + HEIGHT * (1 - v / 100)
    out = [f'<text x="{LEFT}" y="{offset + TOP - 8}" font-weight="bold">{html.escape(title)}</text>']
    for percent in (0, 25, 50, 75, 100):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{y(percent):.1f}" y2="{y(percent):.1f}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y(percent) + 4:.1f}" text-anchor="end">{percent}</text>')
    for number, (values, due) in enumerate(zip(lines, dues)):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x(t):.1f},{y(v):.1f}" for t, v in zip(times, values))
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{y(due):.1f}" y2="{y(due):.1f}" stroke="{colour}" '
                   f'stroke-dasharray="4 4" opacity="0.5"/><polyline points="{points}" fill="none" stroke="{colour}"/>')
    return "\n".join(out)


def write(path, panels):
    """`panels`: a list of (title, times, lines, dues)."""
    step = HEIGHT + TOP + GAP
    body = "\n".join(panel(*each, offset=number * step) for number, each in enumerate(panels))
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{step * len(panels)}" '
                    f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')
