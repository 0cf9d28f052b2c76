// Whole models that Keras saved, by the script keras_models/write_models.py: their outputs are
// those that Keras computed. Prints a table of the differences, with the models that weft refuses.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <regex>
#include <set>

#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/pretrained/keras/keras_files.hpp>
#include "tests/catch.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/pretrained/keras/internal/zip_archive.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

// The inputs and outputs that Keras computed: /case/input0, …, /case/output0, …, and, in double
// precision, /case/double0, …; of the second call of a stateful model, /case/again0, ….
struct KerasValues {
  explicit KerasValues(const fs::path& path) : file(path) {
    for (const std::string& dataset : file.datasets()) datasets.insert(dataset);
  }
  bool contains(const std::string& name) const { return datasets.contains("/" + name); }

  template <class T>
  Tensor<T> tensor(const std::string& name) const {
    const StoredDataset dataset = file.dataset(name);
    const auto converted = [](const auto& from) {
      Tensor<T> to(from.shape());
      std::ranges::transform(from, to.data(), [](auto x) { return static_cast<T>(x); });
      return to;
    };
    if (dataset.type() == "bool") return converted(dataset.tensor<bool>());
    if (dataset.type() == "int32") return converted(dataset.tensor<std::int32_t>());
    return dataset.tensor<T>();
  }

  Hdf5File file;
  std::set<std::string> datasets;
};

// The largest difference divided by the largest number. NaNs are equal: Keras's mean of no steps.
template <class T>
double difference(const Tensor<T>& actual, const Tensor<T>& expected) {
  if (actual.shape() != expected.shape()) return INFINITY;
  double worst = 0, largest = 0;
  for (Index i = 0; i < actual.size(); ++i) {
    const double a = actual.data()[i], e = expected.data()[i];
    if (std::isnan(a) && std::isnan(e)) continue;
    worst = std::max(worst, std::isnan(a - e) ? INFINITY : std::abs(a - e));
    largest = std::max(largest, std::abs(e));
  }
  return worst == 0 ? 0 : worst / largest;
}

// Returns the difference of all outputs from the values CASE/KIND0, ….
template <class T>
double run_case(const KerasModel<T>& model, const KerasValues& values, const std::string& name,
                const std::string& kind) {
  Tape<T> tape = Tape<T>::inference();
  std::vector<Var<T>> inputs;
  for (std::string input; input = str_cat(name, "/input", inputs.size()), values.contains(input);)
    inputs.push_back(tape.constant(values.tensor<T>(input)));
  const KerasResult<T> result = model.run(inputs);
  double worst = 0;
  std::size_t i = 0;
  for (std::string output; output = str_cat(name, "/", kind, i), values.contains(output); ++i)
    worst = std::max(worst, i < result.outputs.size()
                                ? difference(result.outputs[i].value(), values.tensor<T>(output))
                                : INFINITY);
  return i == result.outputs.size() ? worst : INFINITY;
}

// Layers with constants, such as a slope, that Keras rounds to single precision.
const std::regex single_constants(
    "leaky_relu|gelu|elu_alpha|relu_all|layer_in_dense|rescaling|multi_head|"
    "transformer|model_shared");

// What was compared.
struct Summary {
  std::size_t equal = 0, refused = 0;
  double worst_float = 0, worst_double = 0;
};

// Compares all models in a folder, CASE.h5 and CASE.keras, with values.h5, and prints a table.
// Saves the models again in the folder `again`, unless it is empty.
Summary compare_models(const fs::path& folder, const fs::path& again = {}) {
  const KerasValues values(folder / "values.h5");
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (values.datasets.lower_bound("/" + entry.path().stem().string() + "/") !=
            values.datasets.end() &&
        values.contains(entry.path().stem().string() + "/input0"))
      files.insert(entry.path());
  Summary summary;
  std::cout << "float    double   model\n" << std::setprecision(1) << std::scientific;
  for (const fs::path& file : files) {
    const std::string name = file.stem();
    INFO(file.filename().string());
    try {
      const auto model = load_keras<float>(file);
      const bool has_double = values.contains(name + "/double0");
      const std::string kind = values.contains(name + "/output0") ? "output" : "double";
      double worst = run_case(model, values, name, kind);
      double worst_double = 0;
      if (values.contains(name + "/again0")) {
        worst = std::max(worst, run_case(model, values, name, "again"));
        auto fresh = model;
        fresh.reset_states();
        CHECK(run_case(fresh, values, name, kind) < 1e-6);
      }
      if (has_double) worst_double = run_case(load_keras<double>(file), values, name, "double");
      std::cout << worst << "  " << worst_double << "  " << file.filename().string() << '\n';
      CHECK(worst < (name.starts_with("activation_exponential") ? 1e-5 : 1e-6));
      CHECK(worst_double < (std::regex_search(name, single_constants) ? 1e-7 : 1e-12));
      ++summary.equal;
      summary.worst_float = std::max(summary.worst_float, worst);
      summary.worst_double = std::max(summary.worst_double, worst_double);
      if (!again.empty()) {
        save_keras(again / file.filename(), model);
        save_keras(again / (file.filename().string() + ".weights.h5"), model);
      }
    } catch (const FileError& error) {
      std::cout << "refused           " << error.what() << '\n';
      ++summary.refused;
    }
  }
  std::cout << summary.equal << " models equal, " << summary.refused
            << " refused; largest difference " << summary.worst_float << " in float, "
            << summary.worst_double << " in double\n"
            << std::defaultfloat;
  return summary;
}

TEST_CASE("models that Keras saved have Keras's outputs", "[keras]") {
  const TemporaryFolder folder;
  for (const auto& [name, contents] : read_zip(WEFT_TEST_DATA "/keras_models/models.zip"))
    std::ofstream(folder / name, std::ios::binary) << contents;
  const Summary summary = compare_models(folder.path());
  CHECK(summary.equal > 200);
  CHECK(summary.refused == 0);
}

// By tests/keras_models.sh, with all models of keras_models/write_models.py.
TEST_CASE("all models that Keras saved have Keras's outputs", "[.keras_models]") {
  const char* folder = std::getenv("WEFT_KERAS_MODELS");
  REQUIRE(folder);
  fs::create_directories(fs::path(folder) / "again");
  compare_models(folder, fs::path(folder) / "again");
}

// Collects the types of layers, without models and members of layers.
struct LayerTypes final : Members<float> {
  void type(const std::string& name, const std::string&) override {
    const bool is_model = name == "Sequential" || name == "Functional" || name == "Model";
    if (is_within_layer || is_model) return;
    types += ' ' + name;
    is_within_layer = true;
  }
  void parameter(const std::string&, const Parameter<float>&) override {}
  void child(const std::string&, const Module<float>& child) override {
    const bool outer = is_within_layer;
    child.members(*this);
    is_within_layer = outer;
  }
  std::string types;
  bool is_within_layer = false;
};

// By tests/keras_real_files.sh.
TEST_CASE("models of other people have Keras's outputs", "[.keras_real_files]") {
  const char* variable = std::getenv("WEFT_KERAS_MODELS");
  REQUIRE(variable);
  const fs::path folder = variable;
  const KerasValues values(folder / "values.h5");
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_symlink()) files.insert(entry.path());
  Summary summary;
  std::size_t opened = 0;
  for (const fs::path& file : files) {
    const std::string name = file.stem(), original = fs::read_symlink(file).filename();
    INFO(original);
    try {
      const KerasModel<float> model = load_keras(file);
      LayerTypes layers;
      model.members(layers);
      if (values.contains(name + "/output0")) {
        const double worst = run_case(model, values, name, "output");
        CHECK(worst < 1e-4);  // in single precision, large states amplify rounding
        std::cout << std::setprecision(2) << worst << "  " << original << ':' << layers.types
                  << '\n';
        ++summary.equal;
        summary.worst_float = std::max(summary.worst_float, worst);
      } else {
        std::cout << "opened   " << original << ':' << layers.types << '\n';
        ++opened;
      }
    } catch (const Error& error) {
      const std::string message = error.what();  // begins with the path
      std::cout << "refused  " << original << message.substr(message.find("\": ") + 1) << '\n';
      ++summary.refused;
    }
  }
  std::cout << summary.equal << " compared, largest difference " << summary.worst_float << "; "
            << opened << " opened, but not by Keras; " << summary.refused << " refused\n";
}

}  // namespace
}  // namespace weft
