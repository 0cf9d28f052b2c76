"""Measurement of the time and the memory of a step."""
import resource
import time


def step_times(step, seconds, warmup=3, least=5):
    """The times of steps in milliseconds, of at least `least` steps, after warmup steps."""
    for _ in range(warmup):
        step()
    times = []
    start = time.perf_counter()
    while len(times) < least or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        step()
        times.append((time.perf_counter() - before) * 1e3)
    return times


def median_ms(step, seconds, warmup=3, least=5):
    """The median of step_times."""
    times = step_times(step, seconds, warmup, least)
    return sorted(times)[len(times) // 2]


def peak_mib():
    """The peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(step, tokens, seconds):
    """Runs warmup steps, then measures and prints: median_ms tokens mean_ms peak_mib."""
    times = sorted(step_times(step, seconds))
    print(f"{times[len(times) // 2]:.6f} {tokens} {sum(times) / len(times):.6f} {peak_mib():.1f}")
