// Models that keras_models/write_training.py trained in Keras, trained from the same weights on the
// same batches: the losses of all steps are equal.
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/losses.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/train/data/tensor_batch.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/optim/optimizer.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/pretrained/keras/keras_files.hpp>
#include "tests/catch.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/pretrained/keras/internal/zip_archive.hpp"

namespace weft {
namespace {

// Reads one batch, [batch, …], of a dataset [steps, batch, …].
template <class T>
Tensor<T> batch_of(const StoredDataset& dataset, Index step) {
  Tensor<T> batch;
  if (dataset.type() == "int32") {
    const Tensor<std::int32_t> integers = dataset.rows<std::int32_t>(step, step + 1);
    batch = Tensor<T>(integers.shape());
    std::ranges::copy(integers, batch.data());
  } else {
    batch = dataset.rows<T>(step, step + 1);
  }
  const std::vector<Index> sizes(batch.shape().begin() + 1, batch.shape().end());
  return batch.reshaped(sizes);
}

// Keras's losses of probabilities and values.
template <class T>
Var<T> loss_of(const std::string& name, const Var<T>& y, const Tensor<T>& targets) {
  Tape<T>& tape = y.tape();
  if (name == "time_series") return mse_loss(y, tape.constant(targets));
  const Var<T> p = clamp(y, 1e-7, 1 - 1e-7);
  if (name == "sentiment") {
    const Var<T> t = tape.constant(targets);
    return -mean(t * log(p) + (1 - t) * log(1 - p));
  }
  Tensor<T> selected(y.shape());
  for (Index i = 0; i < y.shape()[0]; ++i) selected(i, static_cast<Index>(targets.data()[i])) = 1;
  return -mean(sum(log(p) * tape.constant(selected), {1}));
}

template <class T>
double worst_difference(const TemporaryFolder& folder, const std::string& name) {
  KerasModel<T> model = load_keras<T>(folder / (name + ".keras"));
  const Hdf5File file(folder / "train.h5");
  const StoredDataset x = file.dataset(name + "/x"), y = file.dataset(name + "/y");
  const Tensor<double> expected =
      file.tensor<double>(name + (std::is_same_v<T, float> ? "/float32" : "/float64"));
  SGD<T> optimizer(model, {.lr = 0.125});
  Tape<T> tape({.training = true});
  double worst = 0;
  for (Index step = 0; step < expected.size(); ++step) {
    const Var<T> loss =
        loss_of(name, model(tape.constant(batch_of<T>(x, step))), batch_of<T>(y, step));
    worst = std::max(worst,
                     std::abs(static_cast<double>(loss.value().data()[0]) - expected.data()[step]));
    optimizer.zero_grad();
    tape.backward(loss);
    optimizer.step();
    tape.clear();
  }
  return worst;
}

TEST_CASE("a Keras model that is trained further has Keras's losses", "[keras]") {
  const TemporaryFolder folder;
  for (const auto& [name, contents] : read_zip(WEFT_TEST_DATA "/keras_models/training.zip"))
    std::ofstream(folder / name, std::ios::binary) << contents;
  for (const std::string name : {"text_generation", "sentiment", "time_series"}) {
    const double in_float = worst_difference<float>(folder, name);
    const double in_double = worst_difference<double>(folder, name);
    std::cout << "Keras's losses of 100 steps, " << name << ": largest difference " << in_float
              << " in float, " << in_double << " in double\n";
    CHECK(in_float < 1e-6);
    CHECK(in_double < 1e-12);
  }
}

}  // namespace
}  // namespace weft
