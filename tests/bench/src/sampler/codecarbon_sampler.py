"""CodeCarbon in a process of its own: its offline tracker around a stated time, without any output."""

import json
import sys
import time


def tracker_of(seconds):
    """A tracker that measures this often, with nothing to write, to look up or to say."""
    from codecarbon import OfflineEmissionsTracker

    return OfflineEmissionsTracker(
        country_iso_code="USA",
        measure_power_secs=seconds,
        output_methods=[],
        log_level="critical",
        allow_multiple_runs=True,
    )


def readings(rapl, count):
    """CPU time of one reading of every package, without anything around it."""
    from codecarbon.core.units import Time

    second = Time.from_seconds(1)
    before = time.process_time_ns()
    for _ in range(count):
        rapl.get_cpu_details(second)
    return (time.process_time_ns() - before) / count


def main():
    options = json.loads(sys.argv[1])
    if options["mode"] == "readings":
        from codecarbon.core.cpu import IntelRAPL

        rapl = IntelRAPL()
        rapl.start()
        readings(rapl, 200)
        print(json.dumps({"cpu_ns": [readings(rapl, 1000) for _ in range(9)]}))
        return

    seconds = options["period_ns"] / 1e9
    warm_up = tracker_of(seconds)
    warm_up.start()
    time.sleep(2.2 * seconds)
    warm_up.stop()
    tracker = tracker_of(seconds)
    tracker.get_detected_hardware()
    late = time.monotonic_ns() - int(options["begin"])
    if late > 0:
        sys.exit(f"ready {late / 1e9:.1f} s too late")
    time.sleep(-late / 1e9)
    tracker.start()
    start, cpu, first = time.monotonic_ns(), time.process_time_ns(), tracker._measure_occurrence
    time.sleep(options["seconds"])
    spent, end = time.process_time_ns() - cpu, time.monotonic_ns()
    taken = tracker._measure_occurrence - first
    tracker.stop()
    print(
        json.dumps(
            {
                "begin": str(start),
                "end": str(end),
                "cpu_ns": spent,
                "readings": taken,
                "energy_j": tracker.final_emissions_data.cpu_energy * 3.6e6,
                "mode": [type(part).__name__ + ":" + str(getattr(part, "_mode", "")) for part in tracker._hardware],
            }
        )
    )


if __name__ == "__main__":
    main()
