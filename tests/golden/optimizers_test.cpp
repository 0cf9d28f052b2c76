// Optimizers against PyTorch's. write_optimizers.py wrote the parameters of 20 steps.
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include <weft/layers.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/muon.hpp>
#include <weft/train/optim/rmsprop.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/golden/comparison.hpp"

using namespace weft;

namespace {

// Matches Model in write_optimizers.py.
template <class T>
struct Model : Module<T> {
  explicit Model(Random& random)
      : embedding({.num_embeddings = 5, .embedding_dim = 4}, random),
        norm({.num_hiddens = 4}),
        linear({.in_features = 4, .out_features = 5}, random) {}

  Var<T> operator()(Tape<T>& tape, const Tokens& tokens) const {
    return linear(norm(embedding(tape, tokens)));
  }

  void members(Members<T>& members) const override {
    members("embedding", embedding);
    members("norm", norm);
    members("linear", linear);
  }

  Embedding<T> embedding;
  LayerNorm<T> norm;
  Linear<T> linear;
};

template <class T>
using MakeOptimizer = std::function<std::unique_ptr<Optimizer<T>>(Module<T>&)>;

template <template <class> class Kind, class T, class Options>
MakeOptimizer<T> make(const Options& options) {
  return [options](Module<T>& model) { return std::make_unique<Kind<T>>(model, options); };
}

// With the options of write_optimizers.py.
template <class T>
std::map<std::string, MakeOptimizer<T>> optimizers() {
  return {
      {"sgd", make<SGD, T>(SGDOptions{.lr = 0.1, .weight_decay = 0.1})},
      {"momentum", make<SGD, T>(SGDOptions{.lr = 0.05, .momentum = 0.9})},
      {"momentum_decay",
       make<SGD, T>(SGDOptions{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.1})},
      {"nesterov", make<SGD, T>(SGDOptions{
                       .lr = 0.05, .momentum = 0.8, .weight_decay = 0.2, .nesterov = true})},
      {"adam", make<Adam, T>(AdamOptions{.lr = 0.02})},
      {"adam_decay",
       make<Adam, T>(
           AdamOptions{.lr = 0.02, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-6, .weight_decay = 0.2})},
      // Weight matrices decay, biases and the scales of norms do not.
      {"adamw",
       make<AdamW, T>(AdamWOptions{.lr = 0.02, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.5})},
      {"adamw_all", make<AdamW, T>(AdamWOptions{
                        .lr = 0.02,
                        .weight_decay = 0.2,
                        .decays = [](const std::string&, const Shape&) { return true; }})},
  };
}

// The slice of `steps` for one step.
Tensor<double> at(Index step, const Tensor<double>& steps) {
  const Shape shape = steps.shape().without(0);
  const auto size = static_cast<std::size_t>(shape.elements());
  return Tensor<double>(shape, steps.values().subspan(static_cast<std::size_t>(step) * size, size));
}

}  // namespace

TEMPLATE_TEST_CASE("20 steps of training with each optimizer", "[golden][SGD][Adam][AdamW]", float,
                   double) {
  const Hdf5File file(WEFT_TEST_DATA "/optimizers.h5");
  const Tokens tokens = file.tensor<TokenId>("tokens"), labels = file.tensor<TokenId>("labels");
  for (const auto& [name, make_optimizer] : optimizers<TestType>()) {
    INFO(name);
    Random random(1);
    Model<TestType> model(random);
    (void)load_weights(file.path(), model, {.group = "start"});
    const auto optimizer = make_optimizer(model);
    Tape<TestType> tape({.training = true});
    for (Index step = 0; step < 20; ++step) {
      if (step == 10) optimizer->set_learning_rate(optimizer->learning_rate() / 2);
      tape.backward(cross_entropy(model(tape, tokens), labels));
      optimizer->step();
      for (const auto& [parameter_name, parameter] : named_parameters(model))
        golden::check(str_cat(name, " step ", step + 1, ' ', parameter_name), parameter->value(),
                      at(step, file.tensor<double>(name + "/" + parameter_name)));
    }
    CHECK(optimizer->steps() == 20);
  }
}

TEMPLATE_TEST_CASE("parameters whose first gradient comes late", "[golden][SGD][Adam][AdamW]",
                   float, double) {
  using T = TestType;
  using Make = std::function<std::unique_ptr<Optimizer<T>>(const NamedParameters<T>&)>;
  const auto making = []<class Kind>(const auto& options, Kind*) -> Make {
    return [options](const NamedParameters<T>& parameters) {
      return std::make_unique<Kind>(parameters, options);
    };
  };
  // With the options of write_optimizers.py.
  const std::map<std::string, Make> late = {
      {"adam", making(AdamOptions{.lr = 0.01}, static_cast<Adam<T>*>(nullptr))},
      {"adam_decay",
       making(AdamOptions{.lr = 0.01, .weight_decay = 0.1}, static_cast<Adam<T>*>(nullptr))},
      {"adamw",
       making(AdamWOptions{.lr = 0.01,
                           .weight_decay = 0.1,
                           .decays = [](const std::string&, const Shape&) { return true; }},
              static_cast<AdamW<T>*>(nullptr))},
      {"momentum_decay", making(SGDOptions{.lr = 0.01, .momentum = 0.9, .weight_decay = 0.1},
                                static_cast<SGD<T>*>(nullptr))},
      {"rmsprop", making(RMSpropOptions{.lr = 0.01, .weight_decay = 0.1, .momentum = 0.5},
                         static_cast<RMSprop<T>*>(nullptr))},
  };
  const Hdf5File file(WEFT_TEST_DATA "/optimizers.h5");
  const auto steps = file.tensor<std::int32_t>("late/steps");
  const Index count = steps.shape()[0], stored = steps.shape()[1];
  for (const auto& [name, make_optimizer] : late) {
    const auto expected = file.tensor<double>("late/" + name);
    std::vector<Parameter<T>> parameters;
    NamedParameters<T> named;
    for (Index i = 0; i < count; ++i) {
      parameters.emplace_back(Tensor<T>({3}, {T{1}, T{-2}, T{0.5}}));
      named.push_back({std::to_string(i), &parameters.back()});
    }
    const auto optimizer = make_optimizer(named);
    std::vector<Tensor<T>> got(static_cast<std::size_t>(count), Tensor<T>({stored, 3}));
    for (std::int32_t step = 1; step <= steps(count - 1, stored - 1); ++step) {
      Tensor<T> gradient({3});
      for (Index j = 0; j < 3; ++j) gradient(j) = static_cast<T>(std::cos(step + j));
      for (Index i = 0; i < count; ++i)
        if (step >= steps(i, 0)) parameters[static_cast<std::size_t>(i)].set_grad(gradient);
      optimizer->step();
      for (Index i = 0; i < count; ++i)
        for (Index k = 0; k < stored; ++k)
          for (Index j = 0; j < 3 && step == steps(i, k); ++j)
            got[static_cast<std::size_t>(i)](k, j) =
                parameters[static_cast<std::size_t>(i)].value()(j);
    }
    for (Index i = 0; i < count; ++i)
      golden::check(str_cat(name, " from step ", steps(i, 0)), got[static_cast<std::size_t>(i)],
                    at(i, expected));
  }
}

TEMPLATE_TEST_CASE("Muon: matrices after steps 1 and 20", "[golden][Muon]", float, double) {
  using T = TestType;
  // With the options of write_optimizers.py.
  const std::map<std::string, MuonOptions> options = {
      {"default", {.lr = 0.02}},
      {"rms",
       {.lr = 0.01,
        .momentum = 0.8,
        .nesterov = false,
        .weight_decay = 0.3,
        .adjust_lr = AdjustLr::match_rms_adamw}},
      {"steps",
       {.lr = 0.05,
        .weight_decay = 0.0,
        .ns_coefficients = {2.0, -1.5, 0.5},
        .ns_steps = 3,
        .ns_eps = 1e-3}},
  };
  const Hdf5File file(WEFT_TEST_DATA "/optimizers.h5");
  for (const auto& [name, of_name] : options)
    for (const auto& [a, b] :
         {std::pair<Index, Index>(3, 7), {7, 3}, {5, 5}, {1, 6}, {20, 18}, {18, 20}}) {
      const std::string dataset = str_cat("muon/", name, "/", a, "x", b);
      const auto expected = file.tensor<double>(dataset);
      Tensor<T> values({a, b}), gradient({a, b});
      const auto fill = [](Tensor<T>& tensor, const auto& function) {
        for (Index k = 0; k < tensor.size(); ++k)
          tensor.data()[k] = static_cast<T>(function(static_cast<double>(k)));
      };
      fill(values, [](double k) { return std::sin(k); });
      Parameter<T> parameter(values);
      Muon<T> optimizer(NamedParameters<T>{{"matrix", &parameter}}, of_name);
      for (int step = 1; step <= 20; ++step) {
        fill(gradient, [step](double k) { return std::cos(step + k * k / 8.0); });
        parameter.set_grad(gradient);
        optimizer.step();
        if (step == 1 || step == 20)
          golden::check(str_cat(dataset, " after step ", step), parameter.value(),
                        at(step == 1 ? 0 : 1, expected));
      }
    }
}
