"""Measurement of the time and the memory of a step."""
import resource
import time


def report(step, tokens, seconds):
    """Runs warmup steps, then measures and prints: median_ms tokens peak_mib."""
    for _ in range(3):
        step()
    times = []
    start = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        step()
        times.append(time.perf_counter() - before)
    median = sorted(times)[len(times) // 2]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{median * 1e3:.6f} {tokens} {peak:.1f}")
