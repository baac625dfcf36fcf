"""The results table by pandas and pyarrow: for every cell means, totals, exact quantiles, Wilson and clustered intervals.

Reads the segments of each cell, the needed columns only, and works cell by cell on two processes: less memory and less time
than one frame of all rows. Prints seconds, CPU seconds and memory as JSON.
"""
import json
import resource
import sys
import time
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

COLUMNS = [
    "item_id", "repeat", "subject", "status", "scheduled_ns", "start_ns", "end_ns", "score",
    "prompt_tokens", "completion_tokens", "energy_gross_j", "energy_net_j", "energy_lo_j", "energy_hi_j",
]
Z = 1.959963984540054


def wilson(right, n):
    p = right / n
    centre = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z * np.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    return centre - half, centre + half


def ratio(frame, items, above, below):
    """A ratio of sums with the standard error of whole items."""
    a, b = frame[above].sum(), frame[below].sum()
    influence = items[above] / a - items[below] / b
    count = len(items)
    return a / b, a / b * np.sqrt(count / (count - 1) * (influence**2).sum())


def figures(frame):
    items = frame.groupby("item", sort=False)[SUMS].sum()
    out = {}
    for name, above, below in RATIOS:
        out[name] = ratio(frame, items, above, below)
    accuracy = frame["score"].mean()
    out["wilson"] = wilson(frame["score"].sum(), len(frame))
    out["ipw"] = accuracy / out["power"][0]
    out["ipj"] = accuracy / out["energy_per_query"][0]
    return out


SUMS = ["score", "one", "seconds", "energy_gross_j", "energy_net_j", "completion_tokens", "tokens"]
RATIOS = [
    ("accuracy", "score", "one"),
    ("power", "energy_gross_j", "seconds"),
    ("energy_per_query", "energy_gross_j", "one"),
    ("energy_per_output_token", "energy_gross_j", "completion_tokens"),
    ("energy_per_token", "energy_gross_j", "tokens"),
    ("net_power", "energy_net_j", "seconds"),
    ("net_energy_per_query", "energy_net_j", "one"),
    ("tokens_per_s", "completion_tokens", "seconds"),
]


def cell(folder):
    batches = []
    for path in sorted(Path(folder).glob("queries-*.arrows")):
        with pa.memory_map(str(path)) as source:
            batches.append(pa.ipc.open_stream(source).read_all().select(COLUMNS))
    frame = pa.concat_tables(batches).to_pandas()
    frame["item"] = pd.factorize(frame["item_id"])[0]
    frame["one"] = 1
    frame["seconds"] = (frame["end_ns"] - frame["start_ns"]) / 1e9
    frame["tokens"] = frame["prompt_tokens"] + frame["completion_tokens"]
    out = figures(frame)
    out["repeats"] = frame.groupby("repeat")[SUMS].sum()
    out["subjects"] = {name: figures(part) for name, part in frame.groupby("subject", observed=True)}
    well = frame[frame["status"] != "failed"]
    for name, values in [
        ("e2e", well["end_ns"] - well["start_ns"]),
        ("e2e_from_schedule", well["end_ns"] - well["scheduled_ns"]),
        ("energy", frame["energy_gross_j"]),
    ]:
        out[name] = values.quantile([0.5, 0.99], interpolation="lower").tolist()
    return len(frame), out


def main():
    began = time.perf_counter()
    folders = sorted(str(path) for path in Path(sys.argv[1], "cells").iterdir())
    with Pool(2) as pool:
        done = pool.map(cell, folders, chunksize=8)
        pool.close()
        pool.join()
    seconds = time.perf_counter() - began
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in (own, children))
    rss = (own.ru_maxrss + 2 * children.ru_maxrss) / 1024
    print(json.dumps({"seconds": seconds, "cpu_s": cpu, "rss_mb": rss, "rows": sum(n for n, _ in done)}))


main()
