// GoldenCase: what PyTorch made of some inputs and weights, and the comparison with it.
#pragma once

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "train/hdf5_file.hpp"
#include "train/weights.hpp"

namespace weft {

template <class T>
inline constexpr double tolerance = std::is_same_v<T, double> ? 1e-10 : 1e-5;

// One group of a file that tests/golden/write_layers.py or write_sequence_layers.py wrote.
template <class T>
class GoldenCase {
 public:
  explicit GoldenCase(const std::string& name, const std::string& file = "layers.h5")
      : path_(WEFT_TEST_DATA "/" + file), file_(path_), group_("/" + name + "/") {}

  Tensor<T> tensor(const std::string& path) const { return file_.tensor<T>(group_ + path); }
  Tensor<double> expected(const std::string& path) const {
    return file_.tensor<double>(group_ + path);
  }
  Tensor<std::int32_t> integers(const std::string& path) const {
    return file_.tensor<std::int32_t>(group_ + path);
  }
  ValidLens valid_lens() const { return ValidLens(integers("valid_lens")); }

  // Gives the module the weights of the file, and runs call(tape, inputs) forwards and backwards.
  // What it returns and all gradients must be as expected.
  template <class Call>
  void check(Module<T>& module, const std::vector<std::string>& inputs, const Call& call) const {
    NamedParameters<T> parameters = named_parameters(module);
    const LoadWeightsReport report = load_weights(path_, module, {.group = group_ + "parameters"});
    CHECK(report.loaded.size() == parameters.size());

    std::vector<Parameter<T>> values;
    for (const std::string& name : inputs) values.emplace_back(tensor("inputs/" + name));
    Tape<T> tape;
    std::vector<Var<T>> variables;
    for (const Parameter<T>& value : values) variables.push_back(tape.parameter(value));
    const Var<T> y = call(tape, variables);
    CHECK(distance(y.value(), expected("output")) < tolerance<T>);

    tape.backward(y, tensor("upstream"));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      INFO("gradient of " << inputs[i]);
      CHECK(distance(values[i].grad(), expected("input_gradients/" + inputs[i])) < tolerance<T>);
    }
    const Tensor<double> gradients = expected("parameter_gradients");
    const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
    std::sort(parameters.begin(), parameters.end(), by_name);
    const double* next = gradients.data();
    for (const auto& [name, parameter] : parameters) {
      INFO("gradient of " << name);
      const Tensor<double> wanted(parameter->shape(),
                                  {next, static_cast<std::size_t>(parameter->size())});
      // That of W_k's bias is 0 but for rounding: it adds the same to all scores of a query.
      CHECK(distance(parameter->grad(), wanted, 1.0) < tolerance<T>);
      next += parameter->size();
    }
    CHECK(next == gradients.data() + gradients.size());
  }

 private:
  std::string path_;
  Hdf5File file_;
  std::string group_;
};

}  // namespace weft
