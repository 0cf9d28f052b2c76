#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/rmsprop.hpp>
#include <weft/train/optim/sgd.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"

using namespace weft;

namespace {

void fill_with_noise(Affine<double>& model) {
  Random random(3);
  for (Parameter<double>* parameter : {&model.weight, &model.bias}) {
    parameter->set_value(random.normal_tensor<double>(parameter->shape()));
    parameter->set_grad(random.normal_tensor<double>(parameter->shape()));
  }
}

// The model after a step of an optimizer with these options.
template <template <class> class AnyOptimizer, class Options>
Affine<double> stepped(const Options& options) {
  Affine<double> model({2, 3}, {3});
  fill_with_noise(model);
  AnyOptimizer<double>(model, options).step();
  return model;
}

template <template <class> class AnyOptimizer, class Options>
void check_groups() {
  // A group's settings are those of an optimizer that has them for all parameters.
  Options options;
  options.lr = 0.5;
  options.weight_decay = 0.25;
  Options for_bias = options;
  for_bias.lr = 0.125;
  for_bias.weight_decay = 0.0;
  Options in_groups = options;
  in_groups.groups = {{.parameters = below("bias"), .lr_factor = 0.25, .weight_decay = 0.0}};
  const Affine<double> all = stepped<AnyOptimizer>(options), own = stepped<AnyOptimizer>(for_bias),
                       grouped = stepped<AnyOptimizer>(in_groups);
  for (Index i = 0; i < 6; ++i)
    CHECK(grouped.weight.value().data()[i] == all.weight.value().data()[i]);
  for (Index i = 0; i < 3; ++i) CHECK(grouped.bias.value()(i) == own.bias.value()(i));
}

}  // namespace

TEST_CASE("parameter groups: learning rate and weight decay of their own", "[train]") {
  check_groups<SGD, SGDOptions>();
  check_groups<RMSprop, RMSpropOptions>();
  check_groups<Adam, AdamOptions>();
  check_groups<AdamW, AdamWOptions>();
}

namespace {

// A group that sets only its rate keeps the optimizer's weight decay.
template <template <class> class AnyOptimizer, class Options>
void check_rate_only() {
  Options options, slower;
  options.weight_decay = slower.weight_decay = 0.25;
  options.lr = 0.5;
  slower.lr = 0.125;
  options.groups = {{.parameters = below("weight"), .lr_factor = 0.25}};
  const Affine<double> grouped = stepped<AnyOptimizer>(options),
                       own = stepped<AnyOptimizer>(slower);
  for (Index i = 0; i < 6; ++i)
    CHECK(grouped.weight.value().data()[i] == own.weight.value().data()[i]);
}

}  // namespace

TEST_CASE("parameter groups: one that sets only its rate decays at that rate", "[train]") {
  check_rate_only<SGD, SGDOptions>();
  check_rate_only<RMSprop, RMSpropOptions>();
  check_rate_only<Adam, AdamOptions>();
  check_rate_only<AdamW, AdamWOptions>();
}

TEST_CASE("parameter groups: the first that selects a parameter counts", "[train]") {
  Affine<double> model({2, 3}, {3});
  SGD<double> sgd(
      model,
      {.lr = 1.0,
       .groups = {{.parameters = below("bias"), .lr_factor = 0.5},
                  {.parameters = [](const std::string&) { return true; }, .lr_factor = 0.0}}});
  model.weight.set_grad(Tensor<double>::full({2, 3}, 1.0));
  model.bias.set_grad(Tensor<double>::full({3}, 1.0));
  sgd.set_learning_rate(2.0);  // as a schedule does: the factors stay
  sgd.step();
  CHECK(model.bias.value()(0) == -1.0);
  CHECK(model.weight.value()(0, 0) == 0.0);
  CHECK(sgd.description() ==
        "SGD, lr 2, momentum 0, weight decay 0 on 0 parameters in 0 tensors, none on 0 parameters "
        "in 0 tensors; lr × 0.5 and weight decay 0 on 3 parameters in 1 tensor; lr × 0 and weight "
        "decay 0 on 6 parameters in 1 tensor");
  // Parameters of a group that decay, and those that do not, are counted separately.
  const AdamW<double> adam(
      model, {.weight_decay = 0.25, .groups = {{.parameters = every_name, .lr_factor = 0.5}}});
  CHECK_THAT(adam.description(),
             Catch::EndsWith("; lr × 0.5 and weight decay 0 on 3 parameters in 1 tensor; lr × 0.5 "
                             "and weight decay 0.25 on 6 parameters in 1 tensor"));
}

TEST_CASE("parameter groups: AdamW's decay stays off biases unless the group has its own",
          "[train]") {
  const auto bias_after = [](const ParameterGroup& group) {
    Affine<double> model({2, 3}, {3});
    model.bias.set_value(Tensor<double>::full({3}, 1.0));
    model.bias.set_grad(Tensor<double>({3}));
    AdamW<double>(model, {.lr = 0.5, .weight_decay = 0.5, .groups = {group}}).step();
    return model.bias.value()(0);
  };
  CHECK(bias_after({.parameters = below("bias")}) == 1.0);
  CHECK(bias_after({.parameters = below("bias"), .weight_decay = 0.5}) == 0.75);
}

TEST_CASE("parameter groups: mistakes are refused", "[train]") {
  Affine<double> model({2, 3}, {3});
  const auto message = [&](const ParameterGroup& group) {
    return message_of<ValueError>([&] { SGD<double>(model, {.groups = {group}}); });
  };
  CHECK(message({.parameters = below("encoder")}) ==
        "SGD: group 1: expected at least one selected parameter, got none");
  CHECK(message({.parameters = {}}) == "SGD: group 1: parameters: expected a function, got none");
  CHECK_FALSE(message({.parameters = below("bias"), .lr_factor = -1.0}).empty());
  CHECK_FALSE(message({.parameters = below("bias"), .weight_decay = -1.0}).empty());
}

TEST_CASE("parameter groups: a parameter with several names is selected by any of them",
          "[train]") {
  struct Tied : Module<double> {
    void members(Members<double>& members) const override {
      members.type("Tied");
      members("input", weight);
      members("output", weight);
    }
    Parameter<double> weight{Tensor<double>({1})};
  };
  const auto stepped = [](const auto& make) {
    Tied model;
    auto optimizer = make(model);
    model.weight.set_grad(Tensor<double>::full({1}, 1.0));
    optimizer.step();
    return model.weight.value()(0);
  };
  const ParameterGroups groups{{.parameters = below("output"), .lr_factor = 0.5}};
  CHECK(stepped([&](Tied& m) { return SGD<double>(m, {.lr = 1.0, .groups = groups}); }) == -0.5);
  for (const double value :
       {stepped([&](Tied& m) { return RMSprop<double>(m, {.lr = 0.1, .groups = groups}); }) / 10,
        stepped([&](Tied& m) { return Adam<double>(m, {.lr = 0.1, .groups = groups}); }),
        stepped([&](Tied& m) { return AdamW<double>(m, {.lr = 0.1, .groups = groups}); })})
    CHECK(value == Approx(-0.05));
}
