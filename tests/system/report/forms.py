"""forms.py CSV SVG NAME…: both can be read, and have these names."""
import csv
import sys
import xml.etree.ElementTree as xml

_, csv_file, svg_file, *names = sys.argv
with open(csv_file, newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
assert sorted(row["name"] for row in rows) == sorted(names), rows
for row in rows:
    for key, value in row.items():
        if key != "name" and value:
            float(value)
root = xml.parse(svg_file).getroot()
assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
texts = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
assert set(names) <= texts, texts
width, height = float(root.get("width")), float(root.get("height"))
bars = [bar for bar in root.iter("{http://www.w3.org/2000/svg}rect") if bar.get("fill")]
assert len(bars) > len(names), len(bars)
for bar in bars:
    x, y, w, h = (float(bar.get(key)) for key in ("x", "y", "width", "height"))
    assert 0 <= x and x + w <= width and 0 <= y and y + h <= height and w > 0 and h > 0, bar.attrib
