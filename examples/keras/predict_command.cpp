#include <fstream>
#include <iostream>

#include <weft/autograd/error.hpp>
#include <weft/train/data/csv.hpp>
#include <weft/train/data/tensor_batch.hpp>
#include "examples/common/output_files.hpp"
#include "examples/keras/arrays.hpp"
#include "examples/keras/commands.hpp"
#include "examples/keras/model_argument.hpp"

namespace weft::keras {
namespace {

namespace fs = std::filesystem;

Tensor<float> read_input(const KerasInput& input, const fs::path& path) {
  if (path.extension() == ".npy") {
    Tensor<float> array = read_npy(path);
    // Models with sizes of any number report shapes that do not fit.
    return array.rank() == 2 ? shaped_for(input, array) : array;
  }
  return shaped_for(input, read_csv(path).numbers());
}

// Computes the outputs of all rows, `batch` rows at a time: each [rows, …].
std::vector<Tensor<float>> outputs_of(const KerasModel<float>& model,
                                      const std::vector<Tensor<float>>& inputs, Index batch) {
  const Index rows = inputs.front().shape()[0];
  for (const Tensor<float>& input : inputs)
    if (input.shape()[0] != rows)
      fail<ShapeError>("inputs", str_cat(rows, " rows each"), input.shape()[0]);
  std::vector<Tensor<float>> outputs;
  for (Index first = 0; first < rows; first += batch) {
    const Index last = std::min(rows, first + batch);
    Tape<float> tape = Tape<float>::inference();
    std::vector<Var<float>> some;
    for (const Tensor<float>& input : inputs)
      some.push_back(tape.constant(rows_of(input, first, last)));
    const KerasResult<float> result = model.run(some);
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
      const Tensor<float>& part = result.outputs[i].value();
      if (first == 0) {
        std::vector<Index> sizes(part.shape().begin(), part.shape().end());
        sizes[0] = rows;
        outputs.emplace_back(Shape(sizes));
      }
      std::ranges::copy(part, outputs[i].data() + first * (part.size() / (last - first)));
    }
  }
  return outputs;
}

// Returns the path of an output: of output 1 for "out.npy", "out_1.npy".
fs::path output_path(const fs::path& path, std::size_t i) {
  if (i == 0) return path;
  return fs::path(path).replace_filename(
      str_cat(path.stem().string(), "_", i, path.extension().string()));
}

}  // namespace

int predict(int argc, char** argv) {
  ModelArgument argument;
  std::string out;
  std::int64_t batch = 32;
  std::vector<std::string> files;
  examples::CommandLine line(
      "keras predict",
      "Computes the outputs of a Keras model and prints them as CSV, one row per example. Each "
      "input is a .npy file, or a CSV file with a header and one row per example.");
  line.option("out", "write the outputs to this .npy or .csv file; further outputs to NAME_1, …",
              out);
  line.option("batch", "number of examples per batch", batch, 1, 1 << 20);
  if (!argument.parse(line, argc, argv, "INPUT...", &files)) return 0;

  const fs::path extension = fs::path(out).extension();
  if (!out.empty()) {
    if (extension != ".npy" && extension != ".csv")
      fail<ValueError>("option --out", "a name that ends in .npy or .csv", "'" + out + "'");
    std::vector<fs::path> inputs = argument.files();
    inputs.insert(inputs.end(), files.begin(), files.end());
    examples::make_directory(fs::absolute(out).parent_path());
    examples::check_replaceable(out, inputs);
  }
  const KerasModel<float> model = argument.load();
  const std::vector<KerasInput> expected = model.inputs();
  if (files.size() != expected.size())
    fail<ValueError>("inputs", str_cat(expected.size(), ", one file per input of the model"),
                     str_cat(files.size()));
  std::vector<Tensor<float>> inputs;
  for (std::size_t i = 0; i < files.size(); ++i)
    inputs.push_back(read_input(expected[i], files[i]));

  const std::vector<Tensor<float>> outputs = outputs_of(model, inputs, batch);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (out.empty()) {
      write_csv(std::cout, outputs[i]);
      continue;
    }
    const fs::path to = output_path(out, i);
    if (extension == ".npy") {
      write_npy(to, outputs[i]);
    } else {
      std::ofstream file(to);
      write_csv(file, outputs[i]);
      if (!file.flush()) throw FileError("cannot write output '" + to.string() + "'");
    }
    std::cout << "wrote " << outputs[i].shape() << " to " << to.string() << '\n';
  }
  return 0;
}

}  // namespace weft::keras
