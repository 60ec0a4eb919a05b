"""What single allocations take from the card according to the driver, and what a job is charged for them."""
import os

from bench import Skip
from job import Failed

USUAL = ["plain:3000000", "pitch:1000x1000", "pitch:65537x64", "array:100000:u8x1", "array:1000x1000:u8x1",
         "array:1920x1080:u8x4", "array:4096x4096:f32x1", "array:20000x5:f32x4", "array:100x100x100:f32x1",
         "array:33x17x500:f16x2", "layered:500x500x6:f16x4", "mipmapped:1000x1000:u8x4:10", "mipmapped:100x100x100:f32x1:7"]
# A row of 131072 elements of 16 bytes has 2 MiB, the driver's granule: so the figures show to how many rows the driver rounds.
ROWS = [f"array:131072x{rows}:f32x4" for rows in (1, 2, 7, 8, 9, 16, 17, 24, 32, 33, 40, 48, 64, 65, 72, 80, 96, 100, 127, 128, 129,
                                                   136, 160, 192, 200, 250, 256, 257, 264, 300, 384, 500)]
LINES = [f"array:{width}:{form}" for width, form in ((131072, "f32x4"), (131072, "f16x2"), (100000, "f32x4"), (65536, "f32x4"),
                                                    (65537, "u8x1"))]
# 65536 rows: a byte more in each is 64 KiB.
WIDTHS = [f"array:{width}x65536:u8x1" for width in (1, 60, 64, 65, 100, 128, 129, 192, 193, 200, 256, 257, 320, 500, 512, 513)]
# Rows of 256 KiB: eight of them are a granule.
BOXES = [f"array:16384x{rows}x{depth}:f32x4" for rows, depth in (
    (1, 1), (1, 2), (1, 8), (8, 1), (8, 2), (8, 3), (8, 4), (8, 5), (8, 7), (8, 8), (8, 9), (8, 16), (8, 17), (8, 31), (8, 32), (8, 33),
    (9, 2), (16, 3), (17, 2), (17, 9), (33, 2), (33, 5), (65, 2), (65, 3), (65, 9), (100, 2), (128, 3), (129, 2), (129, 3), (257, 1),
    (257, 2))]
SMALL_BOXES = [f"array:{width}x{rows}x{depth}:f32x1" for width, rows, depth in (
    (100, 100, 100), (128, 128, 128), (256, 256, 256), (200, 200, 200), (250, 130, 70), (33, 300, 300), (300, 33, 300), (1000, 100, 10),
    (100, 1000, 10), (513, 257, 129))]
LAYERS = ([f"layered:32768x{layers}:f32x4" for layers in (1, 2, 3, 4, 8, 9)] +
          [f"layered:32768x{rows}x{layers}:f32x4" for rows, layers in ((1, 1), (1, 4), (8, 2), (9, 3), (17, 3), (65, 2), (100, 3), (129, 3),
                                                                     (257, 2))] +
          ["cube:1000x1000x6:f32x4", "cube:500x500x6:f32x1", "layered:1000x700x7:u8x4"])
LEVELS = ([f"mipmapped:32768x{rows}:f32x4:{levels}" for rows, levels in ((8, 1), (8, 2), (8, 3), (8, 16), (9, 2), (65, 3), (100, 1), (100, 2),
                                                                       (100, 3), (100, 4), (100, 7), (1000, 1), (1000, 10))] +
          ["mipmapped:32768:f32x4:1", "mipmapped:32768:f32x4:2", "mipmapped:32768:f32x4:16", "mipmapped:4096x4096:u8x4:13",
           "mipmapped:1000x600x50:u8x4:10", "mipmapped:2048x2048x64:f16x4:12", "mipmapped:500x300x200:f32x1:9"])
OTHERS = ["surface:131072x129:f32x4", "surface:131072x9:f32x4", "surface:1920x1080:u8x4", "array:1920x1080:f16x4", "array:3840x2160:u8x4",
          "array:1280x720:u8x4", "array:640x480:f32x1", "array:1024x1024:f32x4", "array:1025x1025:f32x4"]
# Below a granule, alone and beside their like.
SMALL = [f"array:{width}x{rows}:{form}" for width, rows, form in (
    (1, 1, "u8x1"), (16, 16, "u8x4"), (64, 64, "u8x4"), (128, 128, "f32x1"), (256, 256, "u8x4"), (256, 256, "f32x4"), (300, 300, "f32x4"),
    (512, 512, "f32x1"), (320, 240, "f32x4"), (360, 360, "f32x4"))] + ["array:1000:u8x1", "array:10000:u8x1", "array:60000:f32x1"]
SHAPES = {"rows": ROWS, "lines": LINES, "widths": WIDTHS, "boxes": BOXES + SMALL_BOXES, "layers": LAYERS, "levels": LEVELS,
          "other shapes": OTHERS, "small ones": SMALL}


def rows(bench):
    figures = {}
    bench.check("the sizes program, alone and in a job", "both run to their end", lambda: measure(bench, figures))
    for kind in USUAL:
        bench.check(kind, "charged no less than the driver takes", lambda: compare(figures, kind))
    for name, kinds in SHAPES.items():
        bench.check(f"arrays, {name}: {len(kinds)} shapes", "charged no less than the driver takes, and no more than 25 % more "
                    "together", lambda: compare_all(bench, figures, kinds))


def sizes_of(job):
    if job.wait(90) != 0:
        raise Failed(job.last_words())
    return {line.split()[0]: int(line.split()[1]) for line in job.facts("size")}


def measure(bench, figures):
    kinds = USUAL + [kind for group in SHAPES.values() for kind in group]
    figures["driver"] = sizes_of(bench.bare("sizes-alone", ["sizes", *kinds]))
    figures["charged"] = sizes_of(bench.job("sizes", ["sizes", *kinds], "6GiB"))
    with open(os.path.join(bench.table.folder, "sizes.txt"), "w", encoding="utf-8") as file:
        for kind, driver in figures["driver"].items():
            file.write(f"{kind} {driver} {figures['charged'].get(kind)}\n")
    return len(figures["driver"]) == len(set(kinds)), f"{len(figures['driver'])} kinds"


def pair(figures, kind):
    if kind not in figures.get("charged", {}):
        raise Skip("there is no figure of it in a job")
    return figures["driver"][kind], figures["charged"][kind]


def compare(figures, kind):
    driver, charged = pair(figures, kind)
    return charged >= driver, f"the driver takes {driver} bytes each, charged {charged}"


def compare_all(bench, figures, kinds):
    pairs = {kind: pair(figures, kind) for kind in kinds}
    less = [f"{kind} takes {driver}, charged {charged}" for kind, (driver, charged) in pairs.items() if charged < driver]
    ratio = sum(charged for _, charged in pairs.values()) / sum(driver for driver, _ in pairs.values())
    for text in less:
        bench.remember(text)
    return not less and ratio <= 1.25, f"{len(less)} of {len(kinds)} charged less{': ' if less else ''}{'; '.join(less[:3])}; " \
        f"together charged {100 * ratio:.1f} % of what the driver takes"
