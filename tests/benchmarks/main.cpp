// weft_benchmark: runs one measurement and prints the result.
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>

#include <weft/autograd/error.hpp>
#include <weft/autograd/parallel.hpp>
#include <weft/autograd/tensor.hpp>
#include "autograd/kernels/matrix_product.hpp"
#include "tests/benchmarks/files.hpp"
#include "tests/benchmarks/finetuning.hpp"
#include "tests/benchmarks/generation.hpp"
#include "tests/benchmarks/keras_models.hpp"
#include "tests/benchmarks/measure.hpp"
#include "tests/benchmarks/operations.hpp"
#include "tests/benchmarks/phases.hpp"
#include "tests/benchmarks/predicted_speedups.hpp"
#include "tests/benchmarks/products.hpp"
#include "tests/benchmarks/training.hpp"
#include "tests/benchmarks/workloads.hpp"

namespace weft::benchmarks {
namespace {

constexpr const char* usage =
    "weft_benchmark step WORKLOAD PRECISION THREADS SECONDS   prints: median_ms tokens flops\n"
    "  peak_mib; PRECISION is full or bf16\n"
    "weft_benchmark mean WORKLOAD PRECISION THREADS SECONDS   prints: milliseconds of a step on\n"
    "  average\n"
    "weft_benchmark repeat WORKLOAD PRECISION THREADS TIMES   runs a warmup step and TIMES steps\n"
    "weft_benchmark profile WORKLOAD PRECISION THREADS SECONDS   (W1 … W5, LoRA) prints tables of\n"
    "  phases, operations, layers and memory\n"
    "weft_benchmark predict WORKLOAD PRECISION 1 SECONDS   prints, for 2 to 64 threads: their "
    "number\n"
    "  and the speed-up predicted from one thread\n"
    "weft_benchmark cost WORKLOAD THREADS SECONDS   (W1, W3 or W5) prints, for the trainer alone "
    "and\n"
    "  with its report, TensorBoard and profile: median_ms, and how much longer the median of "
    "blocks\n"
    "  of steps in turn and all of them together are, in percent\n"
    "weft_benchmark save FILE THREADS SECONDS       prints: GB/s peak_mib model_mib\n"
    "weft_benchmark load FILE THREADS SECONDS       the same\n"
    "weft_benchmark generate LAYERS HEADS WIDTH VOCABULARY POSITIONS BATCH PROMPT NEW WEIGHTS\n"
    "  THREADS SECONDS   prints: median_ms tokens prompt_ms peak_mib prompt_flops step_bytes\n"
    "weft_benchmark pretrained FOLDER PROMPT NEW WEIGHTS THREADS SECONDS   prints: median_ms "
    "tokens\n"
    "  prompt_ms peak_mib of a model of Hugging Face\n"
    "weft_benchmark keras MODEL LENGTH VOCABULARY THREADS SECONDS   prints: first_ms one_ms "
    "many_ms\n"
    "  of a model of Keras, and 0\n"
    "weft_benchmark finetune FOLDER TEXT ADAPTERS|- BATCH LENGTH STEPS PRECISION RECOMPUTE "
    "THREADS\n"
    "  SECONDS   prints: the loss of each step, then median_ms tokens peak_mib; RECOMPUTE is 0 or "
    "1,\n"
    "  SECONDS is ignored\n"
    "weft_benchmark limits PRECISION THREADS SECONDS   prints: GFLOP/s of a 2048³ product, and "
    "GB/s\n"
    "                                               of copying 256 MB (read and written) and of\n"
    "                                               reading 512 MB\n"
    "weft_benchmark operations THREADS SECONDS      prints a table\n"
    "weft_benchmark products THREADS SECONDS        prints a table of the kernels of matrix "
    "products\n"
    "weft_benchmark train WORKLOAD PARTS THREADS SECONDS   (W3 or W5; with mpirun by all "
    "processes)\n"
    "  prints: median_ms tokens bytes_sent least_bytes peak_mib\n"
    "weft_benchmark messages THREADS SECONDS        with mpirun -n 2, prints: latency_us GB/s\n"
    "weft_benchmark phases THREADS SECONDS          prints, of W4: milliseconds of forward and\n"
    "                                               backward, of those of half a batch, of the\n"
    "                                               update, and the number of parameters\n";

void print_step(const std::string& name, Precision precision, double seconds) {
  const Workload workload = make_workload(name, precision);
  const double median = median_seconds(seconds, workload.step);
  std::printf("%.6f %.0f %.0f %.1f\n", 1e3 * median, workload.tokens, workload.product_flops,
              peak_mebibytes());
}

void print_mean(const std::string& name, Precision precision, double seconds) {
  std::printf("%.6f\n", 1e3 * mean_seconds(seconds, make_workload(name, precision).step));
}

void repeat(const std::string& name, Precision precision, double times) {
  const Workload workload = make_workload(name, precision);
  workload.step();
  repeat_step(workload, static_cast<Index>(times));
}

void print_file_rate(const FileRate& rate) {
  std::printf("%.3f %.1f %.1f\n", rate.gigabytes_per_second, rate.peak_mib, rate.model_mib);
}

void print_limits(Precision precision, double seconds) {
  const Limits limits = measure_limits(precision, seconds);
  std::printf("%.1f %.1f %.1f\n", limits.flops * 1e-9, limits.bytes * 1e-9, limits.reading * 1e-9);
}

void print_profile(const std::string& name, Precision precision, double seconds) {
  const Workload workload = make_workload(name, precision, true);
  mean_seconds(seconds, workload.step);
  const Profile& profile = *workload.profile;
  std::cout << profile.phase_table() << '\n'
            << profile.operation_table() << '\n'
            << profile.layer_table() << '\n'
            << profile.memory_table();
}

void print_predictions(const std::string& name, Precision precision, double seconds) {
  for (const auto& [threads, speedup] :
       predicted_speedups(seconds, make_workload(name, precision).step))
    std::printf("%d %.3f\n", threads, speedup);
}

// Throws ValueError unless all of `text` is a number.
template <class T>
T parse_number(const char* name, const std::string& text, const char* expected) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail<ValueError>(name, expected, "'" + text + "'");
  return value;
}

void print_generation(char** argv, Precision weights, double seconds) {
  std::array<Index, 8> sizes;
  for (Index& size : sizes) size = parse_number<Index>("size", *argv++, "an integer");
  const auto& [layers, heads, width, vocabulary, positions, batch, prompt, new_tokens] = sizes;
  const GenerationTimes times = measure_generation(
      {layers, heads, width, vocabulary, positions, batch, prompt, new_tokens}, weights, seconds);
  std::printf("%.6f %ld %.6f %.1f %.0f %.0f\n", 1e3 * times.seconds, batch * new_tokens,
              1e3 * times.prompt_seconds, peak_mebibytes(), times.prompt_flops, times.step_bytes);
}

void print_pretrained(char** argv, Precision weights, double seconds) {
  const auto new_tokens = parse_number<Index>("new", argv[2], "an integer");
  const GenerationTimes times = measure_generation(
      argv[0], parse_number<Index>("prompt", argv[1], "an integer"), new_tokens, weights, seconds);
  std::printf("%.6f %ld %.6f %.1f\n", 1e3 * times.seconds, new_tokens, 1e3 * times.prompt_seconds,
              peak_mebibytes());
}

void print_keras(char** argv, double seconds) {
  const KerasTimes times =
      measure_keras(argv[0], parse_number<Index>("length", argv[1], "an integer"),
                    parse_number<Index>("vocabulary", argv[2], "an integer"), seconds);
  std::printf("%.3f %.4f %.4f 0\n", 1e3 * times.first, 1e3 * times.one, 1e3 * times.many);
}

void print_finetuning(char** argv, Precision precision) {
  const auto number = [&](int argument) {
    return parse_number<Index>("number", argv[argument], "an integer");
  };
  const FinetuningOptions options{.model = argv[0],
                                  .text = argv[1],
                                  .adapters = argv[2] == std::string("-") ? "" : argv[2],
                                  .batch = number(3),
                                  .length = number(4),
                                  .steps = number(5),
                                  .precision = precision,
                                  .recompute = number(7) == 1};
  const FinetuningResult result = measure_finetuning(options);
  for (const double loss : result.losses) std::printf("%.9g\n", loss);
  std::printf("%.3f %ld %.1f\n", 1e3 * result.median_seconds, options.batch * options.length,
              peak_mebibytes());
}

void print_training(const std::string& workload, Index parts, double seconds) {
  ProcessGroup processes;
  const TrainingRate rate = measure_training(processes, workload, parts, seconds);
  if (processes.is_root())
    std::printf("%.6f %.0f %.0f %.0f %.1f\n", 1e3 * rate.median_seconds, rate.tokens,
                rate.bytes_sent, rate.least_bytes, peak_mebibytes());
}

void print_costs(const std::string& workload, double seconds) {
  for (const auto& [name, median, of_blocks, of_all] : measure_costs(workload, seconds))
    std::printf("%-12s %10.4f %8.2f %8.2f\n", name.c_str(), 1e3 * median, 100.0 * of_blocks,
                100.0 * of_all);
}

void print_messages() {
  ProcessGroup processes;
  if (processes.size() < 2) fail<ValueError>("messages", "mpirun -n 2", "one process");
  const MessageRate rate = measure_messages(processes);
  if (processes.is_root()) std::printf("%.2f %.2f\n", 1e6 * rate.latency, 1e-9 * rate.bandwidth);
}

void print_phases(double seconds) {
  const Phases phases = measure_phases(seconds);
  std::printf("%.3f %.3f %.3f %ld\n", 1e3 * phases.whole_batch, 1e3 * phases.half_batch,
              1e3 * phases.update, phases.parameters);
}

// The number of operands of a command, before threads and seconds; -1 when there is none.
int operands_of(const std::string& command) {
  if (command == "operations" || command == "products" || command == "messages" ||
      command == "phases")
    return 0;
  if (command == "generate") return 9;
  if (command == "finetune") return 8;
  if (command == "pretrained") return 4;
  if (command == "keras") return 3;
  if (command == "step" || command == "mean" || command == "repeat" || command == "train" ||
      command == "profile" || command == "predict")
    return 2;
  for (const char* with_one : {"limits", "save", "load", "cost"})
    if (command == with_one) return 1;
  return -1;
}

int run(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (const int operands = operands_of(command); operands < 0 || argc != operands + 4) {
    std::cerr << usage;
    return 2;
  }
  set_thread_count(parse_number<int>("threads", argv[argc - 2], "an integer"));
  const auto seconds = parse_number<double>("seconds", argv[argc - 1], "a number");
  if (!(seconds >= 0.0 && std::isfinite(seconds)))
    fail<ValueError>("seconds", "a number ≥ 0", seconds);
  const auto precision = [&](int argument) {
    return enum_from_name("precision", argv[argument], precision_names);
  };
  const auto product_precision = [&](int argument) {
    const Precision chosen = precision(argument);
    if (!is_supported(chosen))
      fail<Error>("precision", "full, because bf16 is not supported on this machine", "bf16");
    return chosen;
  };
  if (command == "step")
    print_step(argv[2], product_precision(3), seconds);
  else if (command == "mean")
    print_mean(argv[2], product_precision(3), seconds);
  else if (command == "repeat")
    repeat(argv[2], product_precision(3), seconds);
  else if (command == "profile")
    print_profile(argv[2], product_precision(3), seconds);
  else if (command == "predict")
    print_predictions(argv[2], product_precision(3), seconds);
  else if (command == "cost")
    print_costs(argv[2], seconds);
  else if (command == "save")
    print_file_rate(measure_saving(argv[2], seconds));
  else if (command == "load")
    print_file_rate(measure_loading(argv[2], seconds));
  else if (command == "generate")
    print_generation(argv + 2, precision(10), seconds);
  else if (command == "pretrained")
    print_pretrained(argv + 2, precision(5), seconds);
  else if (command == "keras")
    print_keras(argv + 2, seconds);
  else if (command == "finetune")
    print_finetuning(argv + 2, product_precision(8));
  else if (command == "train")
    print_training(argv[2], parse_number<Index>("parts", argv[3], "an integer"), seconds);
  else if (command == "messages")
    print_messages();
  else if (command == "phases")
    print_phases(seconds);
  else if (command == "products")
    print_products(seconds);
  else if (command == "limits")
    print_limits(product_precision(2), seconds);
  else
    print_operations(seconds);
  return 0;
}

}  // namespace
}  // namespace weft::benchmarks

int main(int argc, char** argv) {
  try {
    return weft::benchmarks::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "weft_benchmark: " << error.what() << '\n';
    return 1;
  }
}
