// Tied weights: a parameter that is registered under several names is one parameter.
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/layers/copy_parameters.hpp>
#include <weft/layers/embedding.hpp>
#include <weft/layers/summary.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/weights/weight_file.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;

struct Tied : Module<float> {
  void members(Members<float>& members) const override {
    members.type("Tied");
    members("tokens.weight", weight);
    members("bias", bias);
    members("output.weight", weight);
  }
  Parameter<float> weight{Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6})};
  Parameter<float> bias{Tensor<float>({3}, {7, 8, 9})};
};

const Tensor<float> ones = Tensor<float>::full({2, 3}, 1.0f);
const Tensor<float> threes = Tensor<float>::full({3}, 3.0f);

struct TiedFile : WeightFile<Tied> {
  template <class Write>
  explicit TiedFile(const Write& write) : WeightFile(Tied(), write) {}
};

}  // namespace

TEST_CASE("tied weights: counted, listed and stepped once", "[train]") {
  Tied model;
  CHECK(count_parameters(model) == 9);
  const std::vector<TiedName> tied = tied_names<float>(model);
  REQUIRE(tied.size() == 1);
  CHECK(tied[0].name == "output.weight");
  CHECK(tied[0].first == "tokens.weight");

  SGD<float> optimizer(model, {.lr = 0.5});
  Tape tape({.training = true});
  const Var weight = tape.parameter(model.weight);
  tape.backward(sum(weight) + sum(tape.parameter(model.weight)));
  CHECK(model.weight.grad()(0, 0) == 2.0f);
  optimizer.step();
  CHECK(model.weight.value()(0, 0) == 0.0f);
}

TEST_CASE("tied weights: saved once, under the first name, and loaded from there", "[train]") {
  const TemporaryFolder folder;
  Tied model;
  save_weights(folder / "weights.h5", model);
  CHECK(Hdf5File(folder / "weights.h5").datasets("model") ==
        Names{"/model/bias", "/model/tokens/weight"});
  Tied loaded;
  std::ranges::fill(loaded.weight.values(), 0.0f);
  const LoadWeightsReport report = load_weights(folder / "weights.h5", loaded);
  CHECK(report.loaded == Names{"tokens.weight", "bias"});
  CHECK(report.tied.empty());
  CHECK(same(loaded.weight.value(), model.weight.value()));
}

TEST_CASE("tied weights: a file with both names and equal values loads", "[train]") {
  TiedFile file([](Hdf5Writer& writer) {
    writer.tensor("/tokens/weight", ones);
    writer.tensor("/output/weight", ones);
    writer.tensor("/bias", threes);
  });
  const LoadWeightsReport report = load_weights(file.path, file.model);
  CHECK(report.loaded == Names{"tokens.weight", "bias"});
  CHECK(report.tied == Names{"output.weight as tokens.weight"});
  CHECK(report.unexpected.empty());
  CHECK(str_cat(report) ==
        "loaded 2 parameters, layout state_dict\n1 tied: output.weight as tokens.weight\n");
  CHECK(same(file.model.weight.value(), ones));
}

TEST_CASE("tied weights: a file with the second name only loads", "[train]") {
  TiedFile file([](Hdf5Writer& writer) {
    writer.tensor("/model.output.weight", ones);
    writer.tensor("/model.bias", threes);
  });
  const LoadWeightsReport report = load_weights(file.path, file.model);
  CHECK(report.prefix == "model.");
  CHECK(report.renamed == Names{"tokens.weight from model.output.weight"});
  CHECK(same(file.model.weight.value(), ones));
}

TEST_CASE("tied weights: options select them by any of their names", "[train]") {
  TiedFile file([](Hdf5Writer& writer) {
    writer.tensor("/tokens/weight", ones);
    writer.tensor("/bias", threes);
  });
  LoadWeightsReport report = load_weights(file.path, file.model, {.only = {"output\\.weight"}});
  CHECK(report.loaded == Names{"tokens.weight"});
  CHECK(same(file.model.weight.value(), ones));
  CHECK(file.model.bias.value()(0) == 7.0f);
  report = load_weights(file.path, file.model, {.except = {"output\\..*"}});
  CHECK(report.loaded == Names{"bias"});
  CHECK(report.unused == Names{"tokens.weight"});
  TiedFile only_bias([](Hdf5Writer& writer) { writer.tensor("/bias", threes); });
  CHECK(
      load_weights(only_bias.path, only_bias.model, {.ignore_missing = {"output\\..*"}}).missing ==
      Names{"tokens.weight"});
  Tied from, to;
  std::ranges::fill(from.weight.values(), 4.0f);
  std::ranges::fill(from.bias.values(), 4.0f);
  CHECK(copy_parameters(from, to, below("output")) == 1);
  CHECK(to.weight.value()(1, 1) == 4.0f);
  CHECK(to.bias.value()(0) == 7.0f);
}

TEST_CASE("tied weights: different values or shapes under the two names throw", "[train]") {
  TiedFile other_values([](Hdf5Writer& writer) {
    Tensor<float> different = ones;
    different(1, 2) = 2.0f;
    writer.tensor("/tokens/weight", ones);
    writer.tensor("/output/weight", different);
    writer.tensor("/bias", threes);
  });
  CHECK_THAT(other_values.error(),
             Catch::EndsWith("expected equal values of the tied weights tokens.weight and "
                             "output.weight, got different values"));
  TiedFile other_shape([](Hdf5Writer& writer) {
    writer.tensor("/tokens/weight", ones);
    writer.tensor("/output/weight", Tensor<float>({3, 2}));
    writer.tensor("/bias", threes);
  });
  CHECK_THAT(other_shape.error(),
             Catch::Contains("tokens.weight (output.weight): expected [2, 3], got [3, 2]"));
}

TEST_CASE("tied weights: a difference beyond the first block of rows throws", "[train]") {
  struct Large : Module<float> {
    void members(Members<float>& members) const override {
      members.type("Large");
      members("tokens.weight", weight);
      members("output.weight", weight);
    }
    Parameter<float> weight{Tensor<float>({1100, 1000})};
  };
  const auto write = [](float last) {
    return [last](Hdf5Writer& writer) {
      Tensor<float> output({1100, 1000});
      output(1099, 999) = last;
      writer.tensor("/tokens/weight", Tensor<float>({1100, 1000}));
      writer.tensor("/output/weight", output);
    };
  };
  WeightFile equal(Large(), write(0.0f));
  CHECK(load_weights(equal.path, equal.model).tied.size() == 1);
  WeightFile different(Large(), write(1.0f));
  CHECK_THAT(message_of<FileError>([&] { (void)load_weights(different.path, different.model); }),
             Catch::EndsWith("got different values"));
}

}  // namespace weft
