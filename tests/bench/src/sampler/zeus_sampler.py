"""Zeus in a process of its own: windows of a stated length back to back, inside one long window whose energy is told.

It reads when its caller opens or closes a window. The caller's wake-ups count, as those of samplers with a timer do; what
they come to is told beside it.
"""

import json
import sys
import time


def cpu_ns(pids):
    """CPU time of this process and of those."""
    clocks = [((~pid) << 3) | 2 for pid in pids]
    return time.process_time_ns() + sum(time.clock_gettime_ns(clock) for clock in clocks)


def readings(cpus, count):
    """CPU time of one reading of every zone, without anything around it."""
    before = time.process_time_ns()
    for _ in range(count):
        for index in range(len(cpus)):
            cpus.get_total_energy_consumption(index)
    return (time.process_time_ns() - before) / count


def steps(period, length, start, begin, end):
    """Calls both at either end of every period; how many there were, and the CPU time of this process for each."""
    count, cpu = 0, time.process_time_ns()
    for deadline in range(start + period, start + length + 1, period):
        begin()
        time.sleep(max(0, deadline - time.monotonic_ns()) / 1e9)
        end()
        count += 1
    return count, (time.process_time_ns() - cpu) / count


def main():
    options = json.loads(sys.argv[1])
    import psutil
    from zeus.device import get_cpus
    from zeus.monitor import ZeusMonitor

    monitor = ZeusMonitor(gpu_indices=[])
    monitor.begin_window("warm-up")
    time.sleep(0.2)
    monitor.end_window("warm-up")
    if options["mode"] == "readings":
        readings(get_cpus(), 200)
        print(json.dumps({"cpu_ns": [readings(get_cpus(), 1000) for _ in range(9)]}))
        return

    time.sleep(2.5)  # its helper processes have started by then
    period = options["period_ns"]
    loop_ns = steps(period, 4 * 10**9, time.monotonic_ns(), lambda: None, lambda: None)[1]
    begin, end_after = int(options["begin"]), options["seconds"] * 10**9
    late = time.monotonic_ns() - begin
    if late > 0:
        sys.exit(f"ready {late / 1e9:.1f} s too late")
    time.sleep(-late / 1e9)
    pids = [child.pid for child in psutil.Process().children(recursive=True)]
    monitor.begin_window("load")
    start, cpu = time.monotonic_ns(), cpu_ns(pids)
    until = start + end_after
    windows = steps(
        period, end_after, start, lambda: monitor.begin_window("step"), lambda: monitor.end_window("step")
    )[0]
    time.sleep(max(0, until - time.monotonic_ns()) / 1e9)
    spent, end = cpu_ns(pids) - cpu, time.monotonic_ns()
    energy = monitor.end_window("load").cpu_energy
    print(
        json.dumps(
            {
                "begin": str(start),
                "end": str(end),
                "cpu_ns": spent,
                "readings": windows * 2,
                "caller_ns": windows * loop_ns,
                "energy_j": energy[0] + energy[1],
                "helpers": len(pids),
                "cpus": len(energy),
            }
        )
    )


if __name__ == "__main__":
    main()
