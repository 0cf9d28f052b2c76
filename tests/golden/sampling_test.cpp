// Next-token probabilities against transformers'. write_sampling.py wrote them.
#include <algorithm>

#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/text/generation/sampling.hpp>
#include "tests/catch.hpp"
#include "tests/golden/comparison.hpp"

using namespace weft;

TEMPLATE_TEST_CASE("the probabilities of sampling with all options", "[golden][sampling]", float,
                   double) {
  const Hdf5File file(WEFT_TEST_DATA "/sampling.h5");
  constexpr int cases = 17;
  for (int i = 0; i < cases; ++i) {
    const std::string name = str_cat(i < 10 ? "0" : "", i);
    const auto logits = file.tensor<TestType>(name + "/logits");
    const auto context = file.tensor<TokenId>(name + "/context");
    const auto options = file.tensor<double>(name + "/options");
    Sampler<TestType> sampler({.temperature = options(0),
                               .top_k = static_cast<Index>(options(1)),
                               .top_p = options(2),
                               .min_p = options(3),
                               .repetition_penalty = options(4)});
    const std::vector<double> probabilities =
        sampler.probabilities(logits.values(), context.values());
    Tensor<TestType> actual(logits.shape());
    std::ranges::transform(probabilities, actual.begin(),
                           [](double p) { return static_cast<TestType>(p); });
    golden::check(str_cat("sampling ", name), actual, file.tensor<double>(name + "/probabilities"));
  }
}
