"""Math-Verify over pairs of answers: reads {pairs, rounds} as JSON on standard input, prints verdicts and CPU times as JSON.

Every pair is put in as its makers mean it: both sides parsed from a box with the default extraction, then compared. The first pass
gives the verdicts and is not timed, as ours isn't; an exception is no verdict and counts as unequal.
"""

import json
import logging
import sys
import time
import warnings

logging.disable(logging.CRITICAL)
warnings.filterwarnings("ignore")

from math_verify import parse, verify  # noqa: E402


def judge(gold, answer):
    try:
        return bool(verify(parse(gold), parse(answer)))
    except Exception:
        return None


def main():
    task = json.load(sys.stdin)
    pairs = task["pairs"]
    verdicts = [judge(gold, answer) for gold, answer in pairs]
    cpu_s = []
    for _ in range(task["rounds"]):
        start = time.process_time()
        for gold, answer in pairs:
            judge(gold, answer)
        cpu_s.append(time.process_time() - start)
    json.dump({"verdicts": verdicts, "cpu_s": cpu_s}, sys.stdout)


main()
