#include "tests/benchmarks/files.hpp"

#include <weft/layers/models/gpt.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/benchmarks/measure.hpp"

namespace weft::benchmarks {
namespace {

Gpt<float> model() {
  Random random(1);
  return Gpt<float>({.vocabulary_size = 50257,
                     .max_len = 1024,
                     .num_hiddens = 768,
                     .num_heads = 12,
                     .num_blocks = 12},
                    random);
}

template <class Run>
FileRate measure(Module<float>& gpt, double seconds, const Run& run) {
  Index parameters = 0;
  for (const auto& [name, parameter] : named_parameters(gpt))
    parameters += parameter->shape().elements();
  const double bytes = 4.0 * static_cast<double>(parameters);
  const double median = median_seconds(seconds, run);
  return {bytes / median * 1e-9, peak_mebibytes(), bytes / 1048576.0};
}

}  // namespace

FileRate measure_saving(const std::filesystem::path& file, double seconds) {
  Gpt<float> gpt = model();
  return measure(gpt, seconds, [&] { save_weights(file, gpt); });
}

FileRate measure_loading(const std::filesystem::path& file, double seconds) {
  Gpt<float> gpt = model();
  return measure(gpt, seconds, [&] { (void)load_weights(file, gpt); });
}

}  // namespace weft::benchmarks
