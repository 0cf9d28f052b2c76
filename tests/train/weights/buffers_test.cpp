// Buffers: tensors of a module that are saved and loaded, but not trained.
#include <limits>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/layers/summary.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/weights/weight_file.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;

template <class T>
struct Centered : Module<T> {
  void members(Members<T>& members) const override {
    members.type("Centered");
    members("weight", weight);
    members.buffer("running_mean", running_mean);
  }
  Parameter<T> weight{Tensor<T>({3}, {1, 2, 3})};
  Tensor<T> running_mean = Tensor<T>({3}, {4, 5, 6});
};

template <class T>
struct Model : Module<T> {
  void members(Members<T>& members) const override {
    members.type("Model");
    members("layers", layers);
  }
  std::vector<Centered<T>> layers{Centered<T>(), Centered<T>()};
};

}  // namespace

TEST_CASE("buffers: listed by their names, but not as parameters", "[train]") {
  Model<float> model;
  const NamedBuffers<float> buffers = named_buffers(model);
  REQUIRE(buffers.size() == 2);
  CHECK(buffers[1].name == "layers.1.running_mean");
  CHECK(buffers[1].buffer == &model.layers[1].running_mean);
  CHECK(named_parameters(model).size() == 2);
  CHECK(count_parameters(model) == 6);
  CHECK_FALSE(contains(parameter_table(model), "running_mean"));

  // An optimizer leaves them as they are.
  SGD<float> optimizer(model, {.lr = 0.5});
  Tape tape({.training = true});
  tape.backward(
      sum(tape.parameter(model.layers[0].weight) * tape.constant(buffers[0].buffer->clone())));
  optimizer.step();
  CHECK(model.layers[0].weight.value()(0) == -1.0f);
  CHECK(model.layers[0].running_mean(0) == 4.0f);
}

TEMPLATE_TEST_CASE("buffers: saved and loaded with the parameters, in checkpoints and weights",
                   "[train]", float, double) {
  const TemporaryFolder folder;
  Model<TestType> model;
  model.layers[1].running_mean =
      Tensor<TestType>({3}, {TestType(0.1), TestType(0.2), TestType(0.3)});
  save_checkpoint(folder / "model.h5", model);
  CHECK(Hdf5File(folder / "model.h5").datasets("model").size() == 4);
  Model<TestType> checkpoint, weights, copy = model;
  load_checkpoint(folder / "model.h5", checkpoint);
  CHECK(same(checkpoint.layers[1].running_mean, model.layers[1].running_mean));
  CHECK(same(checkpoint.layers[0].running_mean, model.layers[0].running_mean));
  const LoadWeightsReport report = load_weights(folder / "model.h5", weights);
  CHECK(report.loaded == Names{"layers.0.weight", "layers.1.weight", "layers.0.running_mean",
                               "layers.1.running_mean"});
  CHECK(same(weights.layers[1].running_mean, model.layers[1].running_mean));
  // A copy has its own.
  copy.layers[1].running_mean(0) = 9;
  CHECK(model.layers[1].running_mean(0) == TestType(0.1));
}

TEST_CASE("buffers: a PyTorch state_dict with buffers loads", "[train]") {
  WeightFile<Centered<float>> file(Centered<float>(), [](Hdf5Writer& writer) {
    writer.tensor("/norm.weight", Tensor<double>({3}, {1, 1, 1}));
    writer.tensor("/norm.running_mean", Tensor<double>({3}, {2, 2, 2}));
    writer.value("/norm.num_batches_tracked", std::int64_t{5});
  });
  const LoadWeightsReport report = load_weights(file.path, file.model);
  CHECK(report.converted.size() == 2);
  CHECK(report.unused == Names{"norm.num_batches_tracked"});
  CHECK(file.model.running_mean(2) == 2.0f);
}

TEST_CASE("buffers: missing, misshapen and infinite ones throw, and change nothing", "[train]") {
  WeightFile<Centered<float>> missing(
      Centered<float>(), [](Hdf5Writer& writer) { writer.tensor("/weight", Tensor<float>({3})); });
  CHECK_THAT(missing.error(), Catch::Contains("missing (1): running_mean [3]"));
  WeightFile<Centered<float>> other_shape(Centered<float>(), [](Hdf5Writer& writer) {
    writer.tensor("/weight", Tensor<float>({3}));
    writer.tensor("/running_mean", Tensor<float>({4}));
  });
  CHECK_THAT(other_shape.error(), Catch::Contains("running_mean: expected [3], got [4]"));
  CHECK(other_shape.model.running_mean(0) == 4.0f);

  const TemporaryFolder folder;
  Centered<float> model;
  model.running_mean(1) = std::numeric_limits<float>::infinity();
  CHECK_THAT(message_of<NonFiniteError>([&] { save_weights(folder / "model.h5", model); }),
             Catch::Contains("running_mean"));
}

TEST_CASE("buffers: one with the name of another member throws", "[train]") {
  struct Twice : Module<float> {
    void members(Members<float>& members) const override {
      members("mean", parameter);
      members.buffer("mean", buffer);
    }
    Parameter<float> parameter;
    Tensor<float> buffer;
  } module;
  CHECK_THROWS_WITH(named_buffers(module),
                    "module: expected a unique name for each parameter and buffer, got two "
                    "members named mean");
}

}  // namespace weft
