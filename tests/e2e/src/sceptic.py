"""A cell's figures worked out from its raw records with pyarrow and nothing else; printed as JSON."""

import bisect
import json
import pathlib
import sys

import pyarrow as pa

run = pathlib.Path(sys.argv[1])
cell_id = sys.argv[2]


def rows(path):
    with pa.ipc.open_stream(path) as reader:
        return reader.read_all().to_pylist()


manifest = json.loads((run / "run.json").read_text())
folder = run / "cells" / cell_id
cell = json.loads((folder / "cell.json").read_text())
queries = [row for path in sorted(folder.glob("queries-*.arrows")) for row in rows(path)]
calls = [row for path in sorted(folder.glob("calls-*.arrows")) for row in rows(path)]
total = [ledger["domain"] for ledger in cell["ledgers"] if ledger["in_total"]]
blind = {"missing", "out_of_range", "suspect", "clock"}

series = {}
for power in manifest["power"]:
    for sample in rows(run / "power" / power["file"]):
        if sample["event"] not in blind:
            series.setdefault(sample["domain"], []).append((sample["at_ns"], sample["booked_energy_j"]))


def booked(domain, at):
    """Joules booked at a time, between two samples on the straight line."""
    points = series[domain]
    after = bisect.bisect_left(points, (at, -1.0))
    (t0, j0), (t1, j1) = points[after - 1], points[after]
    return j0 + (j1 - j0) * (at - t0) / (t1 - t0)


def union(spans):
    joined = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(end, joined[-1][1])
        else:
            joined.append([start, end])
    return joined


def energy(spans):
    return sum(booked(domain, end) - booked(domain, start) for domain in total for start, end in spans)


joules = busy_ns = tokens = 0
for sitting in cell["sittings"]:
    start, end = int(sitting["start_ns"]), int(sitting["end_ns"])
    answered = {row["query_id"] for row in queries if row["sitting"] == sitting["sitting"]}
    own = [
        call
        for call in calls
        if call["phase"] == "measure" and call["sitting"] == sitting["sitting"] and call["query_id"] in answered
    ]
    spans = union((max(c["dispatch_ns"], start), min(c["end_ns"], end)) for c in own)
    joules += energy(spans)
    busy_ns += sum(b - a for a, b in spans)
    tokens += sum(call["completion_tokens"] for call in own)

scores = [row["score"] for row in queries if row["score"] is not None]
accuracy = sum(scores) / len(scores)
seconds = busy_ns / 1e9
first = min(queries, key=lambda row: row["start_ns"])
spans = union((c["dispatch_ns"], c["end_ns"]) for c in calls if c["query_id"] == first["query_id"] and c["phase"] == "measure")
print(
    json.dumps(
        {
            "gross_j": joules,
            "busy_ns": busy_ns,
            "accuracy": accuracy,
            "power_w": joules / seconds,
            "energy_per_query_j": joules / len(queries),
            "ipw_per_w": accuracy / (joules / seconds),
            "ipj_per_j": accuracy / (joules / len(queries)),
            "tokens_per_s": tokens / seconds,
            "energy_per_output_token_j": joules / tokens,
            "query": {"query_id": first["query_id"], "row_j": first["energy_gross_j"], "alone_j": energy(spans)},
        }
    )
)
