#!/usr/bin/env bash
# report_cost.sh: measures the cost of reports. Trains W1 and W5 with a Trainer, and compares the time of
# a step without a report with the time with the report (and metrics.csv), with TensorBoard event files in
# addition, and with a profile. Blocks of steps alternate within one process; the table shows the median
# ratio of the blocks and the ratio of all steps, in percent. "alone again" shows the measurement error.
# Then prints the size of reports of 100 and 1,000,000 steps, and the time that Debian's chromium takes to
# draw them. Run it on an otherwise idle machine.
#   SECONDS_EACH=20 THREADS=<processors> WORKLOADS="W1 W5"
# With HOOKS=1, also measures the cost of the hooks for profiles when there is no profile: builds a copy
# of the sources without the hooks in build/without_hooks, and times steps of both builds in turn.
#   ROUNDS=5
SECONDS_EACH=${SECONDS_EACH:-20}
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
read -r -a workloads <<<"${WORKLOADS:-W1 W5}"

install_packages "${build_packages[@]}" catch2
build_targets weft_benchmark weft-runs
weft=$build/tests/weft_benchmark
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

log "Costs on $threads threads, in ${seconds}s for each workload"
for workload in "${workloads[@]}"; do
  echo "$workload     ms of a step    median       all, % more than alone"
  "$weft" cost "$workload" "$threads" "$seconds" || fail "$workload: cannot measure the cost"
done

log "Pages"
for steps in 100 1000000; do
  mkdir -p "$work/$steps"
  awk -v steps="$steps" 'BEGIN {
    print "step,epoch,loss,learning_rate,grad_norm,tokens_per_s,validation_loss,training_loss"
    for (i = 1; i <= steps; ++i)
      printf "%d,1,%.5f,%.5g,%.4f,%.1f,%s\n", i, 1 + 9 / sqrt(i) + sin(i) / 10, 1e-3 * (1 - i / steps), 1 + cos(i),
             1000 + i % 7, i % 10 ? "," : sprintf("%.5f,%.5f", 1.2 + 9 / sqrt(i), 1.1 + 9 / sqrt(i))
  }' >"$work/$steps/metrics.csv"
  page=$work/$steps/report.html
  "$build/examples/weft-runs" "$work/$steps" --page "$page" >/dev/null || fail "$steps steps: no page"
  # Measure from the beginning of the script until the browser has laid out the page.
  sed -i -e "s|^'use strict';|&const begins = performance.now();|" \
    -e "s|^addEventListener('resize', redraw);|&document.body.offsetHeight; document.body.dataset.ms = Math.round(performance.now() - begins);|" "$page"
  drawn="not measured, chromium is not installed"
  if command -v chromium >/dev/null; then
    drawn=$(chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" \
      --dump-dom "file://$page" 2>/dev/null | grep -o 'data-ms="[0-9]*"' | grep -o '[0-9]*') ||
      fail "$steps steps: the page was not drawn"
    drawn="drawn in $drawn ms"
  fi
  echo "$steps steps: $(($(wc -c <"$page") / 1000)) kB, $drawn"
done

[[ ${HOOKS:-0} == 1 ]] || exit 0
log "Without hooks"
copy=$build/without_hooks
mkdir -p "$copy"
git -C "$repository" ls-files -z | (cd "$repository" && xargs -0 cp --parents -t "$copy")
# Remove the calls of observers and the counters for them.
sed -i -e 's/bool is_watched() const { return .*/bool is_watched() const { return false; }/' \
  -e 's/^    flops_ += 2.0 .*/    (void)m, (void)n, (void)k, (void)count;/' \
  -e '/^ *static_cast<double>(count);$/d' "$copy/autograd/tape.hpp"
sed -i 's/if (options_.observer)/if (false)/' "$copy/autograd/tape.cpp"
sed -i 's/if (parallel_observer)/if (false)/' "$copy/autograd/parallel.cpp"
sed -i -e 's/if (!profile_) return;/return;/' -e 's/if (profile_) profile_->recorder_->add_phase/if (false) profile_->recorder_->add_phase/' "$copy/train/report/profile.cpp"
for file in autograd/tape.hpp autograd/tape.cpp autograd/parallel.cpp train/report/profile.cpp; do
  ! cmp -s "$repository/$file" "$copy/$file" || fail "$file: expected hooks, found none"
done
cmake -S "$copy" -B "$copy/build" -DCMAKE_BUILD_TYPE=Release >/dev/null || fail "cmake failed"
cmake --build "$copy/build" -j "$(nproc)" --target weft_benchmark >"$copy/build.log" || fail "see $copy/build.log"
for workload in "${workloads[@]}"; do
  rm -f -- "$work/ratios"
  for ((round = 0; round < rounds; ++round)); do
    without=$("$copy/build/tests/weft_benchmark" step "$workload" full "$threads" 2 | cut -d' ' -f1)
    with=$("$weft" step "$workload" full "$threads" 2 | cut -d' ' -f1)
    awk -v a="$with" -v b="$without" 'BEGIN { print 100 * (a / b - 1) }' >>"$work/ratios"
  done
  echo "$workload: unused hooks cost $(median <"$work/ratios") %, median of $rounds pairs"
done
