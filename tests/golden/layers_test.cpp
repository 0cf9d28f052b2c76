// Small layers against PyTorch's. write_layers.py wrote the expected values.
#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/golden/layer_case.hpp"

using namespace weft;
using golden::LayerCase;

namespace {

constexpr Index hiddens = 6;

}  // namespace

TEMPLATE_TEST_CASE("torch.nn.LayerNorm", "[golden][LayerNorm]", float, double) {
  for (const auto& [name, eps] : {std::pair("layer_norm", 1e-5), {"layer_norm_large_eps", 1e-2}}) {
    LayerNorm<TestType> layer({.num_hiddens = hiddens, .eps = eps});
    LayerCase<TestType>(name).check(layer, {"x"},
                                    [&](auto&, const auto& x) { return layer(x[0]); });
  }
}

TEMPLATE_TEST_CASE("torch.nn.BatchNorm1d, three training steps and an evaluation",
                   "[golden][BatchNorm]", float, double) {
  const Hdf5File file(WEFT_TEST_DATA "/layers.h5");
  for (const auto& [name, options] :
       {std::pair("batch_norm", BatchNormOptions{.num_features = hiddens}),
        {"batch_norm_plain",
         {.num_features = hiddens, .eps = 0.1, .momentum = 0.4, .scale = false, .bias = false}}}) {
    BatchNorm<TestType> norm(options);
    const std::string group = str_cat('/', name, '/');
    (void)load_weights(file.path(), norm, {.group = group + "parameters"});
    for (int step = 0; step < 4; ++step) {
      const std::string path = str_cat(group, step, '/');
      const auto check = [&](const std::string& what, const Tensor<TestType>& actual) {
        golden::check(path + what, actual, file.tensor<double>(path + what));
      };
      const Parameter<TestType> x(file.tensor<TestType>(path + "x"));
      Tape<TestType> tape({.training = step < 3});
      const Var<TestType> y = norm(tape.parameter(x));
      check("y", y.value());
      zero_grad(norm);
      tape.backward(y, file.tensor<TestType>(path + "upstream"));
      check("dx", x.grad());
      for (const auto& [parameter_name, parameter] : named_parameters(norm))
        check("d_" + parameter_name, parameter->grad());
      check("running_mean", norm.running_mean);
      check("running_var", norm.running_var);
    }
  }
}

TEMPLATE_TEST_CASE("torch.nn.Linear", "[golden][Linear]", float, double) {
  for (const auto& [name, bias] : {std::pair("linear", false), {"linear_bias", true}}) {
    Random random(1);
    Linear<TestType> layer({.in_features = hiddens, .out_features = 8, .bias = bias}, random);
    LayerCase<TestType>(name).check(layer, {"x"},
                                    [&](auto&, const auto& x) { return layer(x[0]); });
  }
}

TEMPLATE_TEST_CASE("torch.nn.Embedding, with repeated tokens", "[golden][Embedding]", float,
                   double) {
  Random random(1);
  Embedding<TestType> layer({.num_embeddings = 6, .embedding_dim = hiddens}, random);
  const LayerCase<TestType> expected("embedding");
  expected.check(layer, {},
                 [&](auto& tape, const auto&) { return layer(tape, expected.integers("tokens")); });
}
