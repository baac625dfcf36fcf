"""PyTorch's own rates on the first GPU, as one JSON object: a bf16 product of 8192 cubed on random data, and a copy of 1 GiB.

Medians of batches timed by events, after a warm-up. Exits with 3 and a sentence where there is nothing to measure.
"""

import json
import sys

SIDE = 8192
COPY_BYTES = 1 << 30


def batches(work, launches, count):
    """Nanoseconds of one launch, for each of `count` batches."""
    import torch

    found = []
    for _ in range(count):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(launches):
            work()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) * 1e6 / launches)
    return found


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def main():
    try:
        import torch
    except ImportError as error:
        sys.exit(refuse(f"no PyTorch: {error}"))
    if not torch.cuda.is_available():
        sys.exit(refuse("PyTorch sees no GPU"))
    torch.manual_seed(0)
    left, right = (torch.randn(SIDE, SIDE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty(SIDE, SIDE, device="cuda", dtype=torch.bfloat16)
    source = torch.randn(COPY_BYTES // 4, device="cuda")
    target = torch.empty_like(source)
    multiply = lambda: torch.matmul(left, right, out=out)
    copy = lambda: target.copy_(source)
    figures = {"torch": torch.__version__, "device": torch.cuda.get_device_name(0)}
    for name, work, launches in (("gemm_ns", multiply, 20), ("copy_ns", copy, 50)):
        batches(work, launches, 10)
        figures[name] = median(batches(work, launches, 25))
    print(json.dumps(figures))


def refuse(reason):
    print(reason, file=sys.stderr)
    return 3


main()
