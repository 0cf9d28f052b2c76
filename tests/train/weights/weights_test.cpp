#include <limits>

#include <weft/autograd/error.hpp>
#include <weft/layers/feed_forward.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/weights/weight_file.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;

template <class T>
PositionWiseFeedForward<T> feed_forward() {
  Random random(7);
  return PositionWiseFeedForward<T>({.num_hiddens = 4, .ffn_num_hiddens = 6}, random);
}

// Checks the network of tests/golden/write_torch_weights.py against results of PyTorch.
template <class T>
void check_values(const PositionWiseFeedForward<T>& network) {
  const Hdf5File values(WEFT_TEST_DATA "/torch_values.h5");
  Tape tape = Tape<T>::inference();
  const Var<T> y = network(tape.constant(values.tensor<T>("x")));
  const Tensor<T> expected = values.tensor<T>("y", y.shape());
  for (Index i = 0; i < expected.size(); ++i)
    CHECK(y.value().data()[i] == Approx(expected.data()[i]).margin(1e-6));
}

// A file of other datasets for an Affine [3, 4], [3].
struct AffineFile : WeightFile<Affine<float>> {
  template <class Write>
  explicit AffineFile(const Write& write) : WeightFile({{3, 4}, {3}}, write) {}
};

}  // namespace

TEMPLATE_TEST_CASE("weights: PyTorch's files, flat, nested and with a prefix", "[train]", float,
                   double) {
  const auto [name, prefix] = GENERATE(table<std::string, std::string>({
      {"torch_flat.h5", ""},
      {"torch_nested.h5", ""},
      {"torch_compiled.h5", "state_dict._orig_mod."},
  }));
  INFO(name);
  PositionWiseFeedForward<TestType> network = feed_forward<TestType>();
  const LoadWeightsReport report = load_weights(WEFT_TEST_DATA "/" + name, network);
  check_values(network);
  CHECK(report.prefix == prefix);
  CHECK(report.loaded == Names{"dense1.weight", "dense1.bias", "dense2.weight", "dense2.bias"});
}

TEST_CASE("weights: conversions are reported", "[train]") {
  PositionWiseFeedForward<float> network = feed_forward<float>();
  CHECK(load_weights(WEFT_TEST_DATA "/torch_flat.h5", network).converted.empty());
  const LoadWeightsReport report = load_weights(WEFT_TEST_DATA "/torch_compiled.h5", network);
  CHECK(report.converted.size() == 4);
  CHECK(report.converted[0] == "dense1.weight from big-endian float64");
  const std::string text = str_cat(report);
  CHECK_THAT(text, Catch::Contains(
                       "loaded 4 parameters from below 'state_dict._orig_mod.', layout state_dict\n"
                       "4 converted: dense1.weight from big-endian float64, dense1.bias"));
  CHECK_THAT(text, Catch::EndsWith("dense2.bias from big-endian float64\n"));
}

TEST_CASE("weights: saved weights are loaded, also from a given group", "[train]") {
  const TemporaryFolder folder;
  PositionWiseFeedForward<double> network = feed_forward<double>();
  CHECK(load_weights(WEFT_TEST_DATA "/torch_flat.h5", network).loaded.size() == 4);
  save_weights(folder / "weights.h5", network);
  PositionWiseFeedForward<double> loaded = feed_forward<double>();
  CHECK(load_weights(folder / "weights.h5", loaded).prefix == "model.");
  check_values(loaded);
  loaded = feed_forward<double>();
  CHECK(load_weights(folder / "weights.h5", loaded, {.group = "model/"}).prefix.empty());
  check_values(loaded);
  CHECK_THAT(message_of<FileError>(
                 [&] { (void)load_weights(folder / "weights.h5", loaded, {.group = "none"}); }),
             Catch::Contains("weights.h5\" /none: expected an object, got no object of this name"));
}

TEST_CASE("weights: missing, unexpected and mismatched names are listed", "[train]") {
  AffineFile file([](Hdf5Writer& writer) {
    writer.tensor("/weight", Tensor<float>({4, 3}));
    writer.tensor("/scale", Tensor<float>({3}));
    writer.tensor("/shift/0", Tensor<float>({3}));
  });
  const std::string message = file.error();
  CHECK_THAT(message, Catch::Contains("weights.h5\": expected the parameters of the model, got"));
  CHECK_THAT(message,
             Catch::Contains("missing (1): bias [3] (same shape: scale, shift.0); unexpected"));
  CHECK_THAT(message, Catch::Contains("unexpected (2): scale, shift.0; different shape"));
  CHECK_THAT(message, Catch::Contains("different shape (1): weight: expected [3, 4], got [4, 3] "
                                      "(transposed? Keras and TensorFlow"));
}

TEST_CASE("weights: the message of a failed load is one line, the report has all names",
          "[train]") {
  struct Many : Module<float> {
    std::vector<Parameter<float>> weights{9, Parameter<float>(Tensor<float>({2}))};
    void members(Members<float>& members) const override {
      members.type("Many");
      for (std::size_t i = 0; i < weights.size(); ++i)
        members("weight" + std::to_string(i), weights[i]);
    }
  };
  WeightFile file(Many(), [](Hdf5Writer& writer) {
    for (int i = 0; i < 5; ++i) writer.tensor("/other/" + std::to_string(i), Tensor<float>({3}));
  });
  CHECK_THAT(file.error({.group = "/"}),
             Catch::EndsWith(
                 "got no matching datasets; missing (9): weight0 [2], weight1 [2], weight2 [2], "
                 "and 6 more; unexpected (5): other.0, other.1, other.2, and 2 more "
                 "(h5weights inspect lists all datasets of the file)"));
}

TEST_CASE("weights: datasets are proposed by their names, then by their shapes", "[train]") {
  AffineFile file([](Hdf5Writer& writer) {
    writer.tensor("/weights", Tensor<float>({4, 3}));
    writer.tensor("/a", Tensor<float>({3, 4}));
    writer.tensor("/gain", Tensor<float>({3, 4}));
    writer.tensor("/shift", Tensor<float>({3}));
  });
  CHECK_THAT(file.error(),
             Catch::Contains("missing (2): weight [3, 4] (similar name: weights [4, 3]; "
                             "same shape: gain, a), bias [3] (same shape: shift); unexpected"));
}

TEST_CASE("weights: missing and unexpected names are ignored where they are listed", "[train]") {
  AffineFile file([](Hdf5Writer& writer) {
    writer.tensor("/weight", Tensor<float>::full({3, 4}, 2.0f));
    writer.tensor("/scale", Tensor<float>({3}));
  });
  const std::string both = "missing (1): bias [3] (same shape: scale); unexpected (1): scale";
  CHECK_THAT(file.error(), Catch::EndsWith(both));
  CHECK_THAT(file.error({.ignore_missing = {"scale"}, .ignore_unexpected = {"bias"}}),
             Catch::EndsWith(both));
  CHECK_THAT(file.error({.ignore_missing = {"bias"}}),
             Catch::EndsWith("different contents; unexpected (1): scale"));
  CHECK_THAT(file.error({.ignore_unexpected = {"sc.*"}}),
             Catch::EndsWith("different contents; missing (1): bias [3] (same shape: scale)"));

  file.model.bias = Parameter<float>(Tensor<float>::full({3}, 3.0f));
  const LoadWeightsReport report = load_weights(
      file.path, file.model, {.ignore_missing = {"none", "b.*s"}, .ignore_unexpected = {"scale"}});
  CHECK(report.loaded == Names{"weight"});
  CHECK(report.missing == Names{"bias"});
  CHECK(report.unexpected == Names{"scale"});
  CHECK(file.model.weight.value()(2, 3) == 2.0f);
  CHECK(file.model.bias.value()(2) == 3.0f);
  CHECK(str_cat(report) ==
        "loaded 1 parameter, layout state_dict\n1 missing: bias\n1 unexpected: scale\n");
}

TEST_CASE("weights: whatever is ignored, shapes must match and one parameter must be loaded",
          "[train]") {
  const LoadWeightsOptions all{.ignore_missing = {".*"}, .ignore_unexpected = {".*"}};
  AffineFile other_shape([](Hdf5Writer& writer) { writer.tensor("/bias", Tensor<float>({4})); });
  CHECK_THAT(other_shape.error(all), Catch::Contains("bias: expected [3], got [4]"));
  AffineFile other([](Hdf5Writer& writer) { writer.tensor("/a/b", Tensor<float>({4})); });
  CHECK_THAT(other.error(all), Catch::EndsWith("got no matching datasets"));
}

TEST_CASE("weights: a regular expression fits whole names", "[train]") {
  AffineFile file([](Hdf5Writer& writer) {
    writer.tensor("/weight", Tensor<float>({3, 4}));
    writer.tensor("/bias", Tensor<float>({3}));
    writer.tensor("/head/0/bias", Tensor<float>({3}));
  });
  for (const char* pattern :
       {"head.0.bias", ".*", "head\\..*", ".*\\.bias", "h.+\\d.*s", "a|head.*"})
    CHECK(load_weights(file.path, file.model, {.ignore_unexpected = {pattern}}).unexpected ==
          Names{"head.0.bias"});
  for (const char* pattern : {"", "head", "head.0.bia", "ead.*", ".*\\.weight", ".*head"})
    CHECK_THAT(file.error({.ignore_unexpected = {pattern}}),
               Catch::EndsWith("unexpected (1): head.0.bias"));
}

TEST_CASE("weights: what is no regular expression throws, also where it is not needed", "[train]") {
  AffineFile file([](Hdf5Writer& writer) {
    writer.tensor("/weight", Tensor<float>({3, 4}));
    writer.tensor("/bias", Tensor<float>({3}));
    writer.tensor(std::string(1001, 'n'), Tensor<float>({3}));
  });
  for (const auto& [option, options] :
       {std::pair<std::string, LoadWeightsOptions>{"ignore_missing", {.ignore_missing = {"*"}}},
        {"ignore_unexpected", {.ignore_unexpected = {"a", "*"}}},
        {"only", {.only = {"*"}}},
        {"except", {.except = {"*"}}}})
    CHECK_THAT(file.error<ValueError>(options),
               Catch::StartsWith(option + ": expected a regular expression, got '*'"));
  // A long name matches as any other does.
  CHECK(load_weights(file.path, file.model, {.ignore_unexpected = {"n*"}}).unexpected.size() == 1);
  CHECK_THAT(file.error<ValueError>({.ignore_unexpected = {"(n|n)*x"}}),
             Catch::StartsWith("ignore_unexpected: expected an expression that matches in"));
}

TEST_CASE("weights: a NaN or an infinity is named with its parameter and index", "[train]") {
  const auto file_with = [](double value) {
    return AffineFile([value](Hdf5Writer& writer) {
      Tensor<double> weight({3, 4});
      weight(1, 2) = value;
      writer.tensor("/weight", weight);
      writer.tensor("/bias", Tensor<float>({3}));
    });
  };
  for (double value : {std::numeric_limits<double>::quiet_NaN(), 1e300})
    CHECK_THAT(file_with(value).error<NonFiniteError>(),
               Catch::Contains("weights.h5\" /weight: expected finite numbers, got ") &&
                   Catch::Contains("at [1, 2] of [3, 4]"));
}

TEST_CASE("weights: two datasets of the same name throw", "[train]") {
  AffineFile file([](Hdf5Writer& writer) {
    writer.tensor("/a/weight", Tensor<float>({3, 4}));
    writer.tensor("/a.weight", Tensor<float>({3, 4}));
  });
  CHECK_THAT(file.error(),
             Catch::Contains("one dataset for a.weight, got /a.weight and /a/weight"));
}

}  // namespace weft
