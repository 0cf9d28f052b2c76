"""Measurement of the time and the memory of a step."""
import resource
import time


def median_ms(step, seconds, warmup=3, least=5):
    """The median time of a step in milliseconds, of at least `least` steps, after warmup steps."""
    for _ in range(warmup):
        step()
    times = []
    start = time.perf_counter()
    while len(times) < least or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        step()
        times.append(time.perf_counter() - before)
    return sorted(times)[len(times) // 2] * 1e3


def peak_mib():
    """The peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(step, tokens, seconds):
    """Runs warmup steps, then measures and prints: median_ms tokens peak_mib."""
    print(f"{median_ms(step, seconds):.6f} {tokens} {peak_mib():.1f}")
