#!/usr/bin/env bash
# scaling.sh: predicts the time of W4's training step on 1 to 1024 machines like this one, from times
# measured here. Prints a table, writes it to build/scaling.csv and draws it to build/scaling.png.
#
# The time of a step on n machines, each of which computes b sequences, is the sum of
#   compute    f + b·s, a third of it in forward; batches of 4 and 2 sequences determine f and s
#   gradients  sending each bucket of 4 MiB to its owners takes (n - 1) (latency + 4 MiB / n /
#              bandwidth); this overlaps with backward, except for the last bucket
#   addition   of n - 1 partial sums of the machine's own elements, at the rate of copying
#   update     of the machine's own elements: 1 / n of the measured time
#   weights    sending them takes as long as the gradients, but does not overlap with computation
#   agreement  on losses, norms and the end of training: three exchanges of 2 log2(n) latencies
# The batches are W4's 4 sequences, divided among at most 4 machines (more machines are idle), and 4
# sequences per machine. The networks are messages between two processes here (measured), 10 Gb/s with
# 30 µs, and 100 Gb/s with 3 µs (assumed). The efficiency is the throughput relative to n times the
# throughput of one machine.
#   SECONDS_EACH=2 THREADS=<processors>
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"

install_packages "${build_packages[@]}" catch2 "${mpi_packages[@]}" gnuplot-nox
build_targets weft_benchmark
weft=$build/tests/weft_benchmark

log "Measuring"
read -r whole half update parameters <<<"$("$weft" phases "$threads" "$seconds")"
read -r _ copy _ <<<"$("$weft" limits full "$threads" "$seconds")"
read -r latency bandwidth <<<"$(OMP_NUM_THREADS=1 mpiexec -n 2 "$weft" messages 1 "$seconds")"
echo "forward and backward of 4 sequences $whole ms, of 2 $half ms; update $update ms; copy $copy GB/s;" \
  "messages $latency µs, $bandwidth GB/s; $parameters parameters"

csv=$build/scaling.csv
awk -v whole="$whole" -v half="$half" -v update="$update" -v parameters="$parameters" \
  -v copy="$copy" -v latency="$latency" -v bandwidth="$bandwidth" '
  function greater(x, y) { return x > y ? x : y }
  # Returns the milliseconds of a step; latency is in µs, bandwidth in GB/s.
  function step_ms(n, b, latency, bandwidth,   per_sequence, fixed, compute, all, buckets, one, rest,
                   addition, agreement) {
    per_sequence = (whole - half) / 2
    fixed = whole - 4 * per_sequence
    compute = fixed + b * per_sequence
    if (n == 1) return compute + update
    all = 4 * parameters
    buckets = all / 4194304
    one = (n - 1) * (latency * 1e-3 + 4194304 / n / bandwidth * 1e-6)
    rest = greater(one, buckets * one - compute * 2 / 3 * (buckets - 1) / buckets)
    addition = 2 * (n - 1) / n * all / copy * 1e-6
    agreement = 6 * log(n) / log(2) * latency * 1e-3
    return compute + rest + addition + update / n + buckets * one + agreement
  }
  BEGIN {
    latencies["here"] = latency; bandwidths["here"] = bandwidth
    latencies["10Gb/s"] = 30; bandwidths["10Gb/s"] = 1.25
    latencies["100Gb/s"] = 3; bandwidths["100Gb/s"] = 12.5
    split("here 10Gb/s 100Gb/s", networks, " ")
    print "machines,network,batch,step_ms,efficiency"
    one = step_ms(1, 4, 0, 1)
    for (n = 1; n <= 1024; n *= 2)
      for (i = 1; i <= 3; ++i) {
        network = networks[i]
        shared = n < 4 ? n : 4
        fixed_ms = step_ms(n, 4 / shared, latencies[network], bandwidths[network])
        grown_ms = step_ms(n, 4, latencies[network], bandwidths[network])
        printf "%d,%s,4,%.1f,%.4f\n", n, network, fixed_ms, one / n / fixed_ms
        printf "%d,%s,4n,%.1f,%.4f\n", n, network, grown_ms, one / grown_ms
      }
  }' >"$csv"
column -s, -t "$csv"

gnuplot -d -e "set terminal pngcairo size 900,540; set output '$build/scaling.png';
  set datafile separator ','; set datafile missing NaN; set logscale x 2; set xrange [1:1024]; set yrange [0:1.1];
  set xlabel 'machines'; set ylabel 'efficiency'; set key outside right; set grid;
  set title 'Efficiency of training W4 on several machines (model)';
  plot for [network in 'here 10Gb/s 100Gb/s'] for [batch in '4 4n'] '$csv'
    using 1:(strcol(2) eq network && strcol(3) eq batch ? \$5 : NaN)
    with linespoints title network.', batch '.batch" ||
  fail "gnuplot failed"
echo "wrote $csv and $build/scaling.png"
