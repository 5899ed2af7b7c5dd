"""The plots of the README, from tables that were measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tables import Table

# Plain full-text search with porter stems on the same set.
PLAIN = {"all": 0.640, "identifier": 0.89, "followup": 0.76, "terse": 0.72, "typo": 0.30}
PLAIN |= {"natural": 0.71, "agent": 0.79, "crosslingual": 0.30, "paraphrase": 0.33}
BLUE, ORANGE, GREY = "#2563eb", "#ea580c", "#9ca3af"


def canvas(width: float = 7.2, height: float = 3.4) -> tuple[Any, Any]:
    """A figure and its axes; the same input gives the same file."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "figures", "font.size": 9, "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})


def retrieval(read: Mapping[str, list[Table]], path: Path) -> None:
    """nDCG@10 by kind of question: plain search, words, words and vectors."""
    words, vectors = read["retrieval"][0], read["retrieval-semantic"][0]
    kinds = list(PLAIN)
    series = {
        "plain FTS5": (GREY, [PLAIN[kind] for kind in kinds]),
        "this bank, words": (BLUE, [words.number(kind, "nDCG@10") for kind in kinds]),
        "with `semantic`": (ORANGE, [vectors.number(kind, "nDCG@10") for kind in kinds]),
    }
    figure, axes = canvas()
    for n, (name, (colour, values)) in enumerate(series.items()):
        places = [at + (n - 1) * 0.27 for at in range(len(kinds))]
        axes.bar(places, values, width=0.27, color=colour, label=name)
    axes.set_xticks(range(len(kinds)), kinds, rotation=20)
    axes.set_ylabel("nDCG@10")
    axes.set_ylim(0, 1.12)
    axes.legend(frameon=False, ncols=3, loc="upper center")
    save(figure, path)


def silence(read: Mapping[str, list[Table]], path: Path) -> None:
    """What a floor costs: hopeless questions that stay silent against answers injected."""
    figure, axes = canvas(5.4, 3.4)
    for name, label, colour in (
        ("retrieval", "words", BLUE),
        ("retrieval-semantic", "with `semantic`", ORANGE),
    ):
        curve = read[name][1]
        points = [
            (
                curve.number(floor, "negatives silent"),
                curve.number(floor, "answers in the first five"),
            )
            for floor in curve.rows
        ]
        axes.plot(*zip(*points, strict=True), "o-", color=colour, label=label, markersize=3)
    axes.set_xlabel("hopeless questions without any injection")
    axes.set_ylabel("answers in the first five")
    axes.legend(frameon=False)
    save(figure, path)


def scale(read: Mapping[str, list[Table]], path: Path) -> None:
    """Milliseconds of a search over the number of facts."""
    table = read["scale"][0]
    sizes = [int(size.replace(",", "")) for size in table.rows]
    figure, axes = canvas(5.4, 3.2)
    for column, style in (("p50 ms", "o-"), ("p95 ms", "o--")):
        values = [table.number(size, column) for size in table.rows]
        axes.plot(sizes, values, style, color=BLUE, label=f"search {column.split()[0]}")
    axes.set_xscale("log")
    axes.set_ylim(0)
    axes.set_xlabel("facts in the bank")
    axes.set_ylabel("ms")
    axes.legend(frameon=False)
    save(figure, path)


def peers(read: Mapping[str, list[Table]], path: Path) -> None:
    """Quality against the time of a search, beside other libraries."""
    table = read["peers"][0]
    figure, axes = canvas(5.8, 3.4)
    for name in table.rows:
        try:
            point = table.number(name, "search p50 ms"), table.number(name, "nDCG@10")
        except KeyError:
            continue
        axes.plot(*point, "o", color=BLUE if "this bank" in name else GREY)
        axes.annotate(name, point, textcoords="offset points", xytext=(6, 4))
    axes.set_xscale("log")
    axes.margins(x=0.35, y=0.2)
    axes.set_xlabel("search, median ms")
    axes.set_ylabel("nDCG@10, coding set")
    save(figure, path)


PLOTS: dict[str, Callable[[Mapping[str, list[Table]], Path], None]] = {
    "retrieval": retrieval,
    "silence": silence,
    "scale": scale,
    "peers": peers,
}
