#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>

#include <weft/layers/linear.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/moving_average.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include <weft/train/weights/convert_weights.hpp>
#include <weft/train/weights/weights.hpp>
#include "examples/h5weights/program.hpp"
#include "examples/h5weights/statistics.hpp"
#include "tests/catch.hpp"
#include "tests/examples/outcome.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();
const std::string golden = WEFT_TEST_DATA "/";

Outcome run(const std::vector<std::string>& arguments) {
  setenv("NO_COLOR", "1", 1);
  return outcome_of(h5weights::run_program, "h5weights", arguments);
}

// Files of weights in a folder.
struct Files {
  TemporaryFolder folder;

  std::string write(const std::string& name,
                    const std::function<void(Hdf5Writer&)>& content) const {
    const std::string path = (folder / name).string();
    Hdf5Writer writer(path);
    content(writer);
    writer.save();
    return path;
  }
  // A file of one dataset.
  std::string write(const std::string& name, const Tensor<float>& tensor) const {
    return write(name, [&](Hdf5Writer& writer) { writer.tensor("a/weight", tensor); });
  }
};

}  // namespace

TEST_CASE("h5weights inspect recognizes a whole model of Keras", "[examples]") {
  CHECK(contains(run({"inspect", golden + "keras_legacy_model.h5"}).output,
                 "\na whole model of Keras 3."));
}

TEST_CASE("h5weights inspect: a tree of datasets with their statistics", "[examples]") {
  const Files files;
  const std::string path = files.write("model.h5", [](Hdf5Writer& writer) {
    writer.tensor("model/a/weight", Tensor<float>({2, 2}, {1, 2, 3, 6}));
    writer.tensor("model/a/bias", Tensor<double>({1}, {0.5}));
    writer.tensor("model/b", Tensor<float>({4}, {not_a_number, 1, -infinite, not_a_number}));
    writer.value("model/steps", std::int64_t{12345678901});
    writer.value("vocabulary", std::string("a b\nc"));
  });
  const Outcome outcome = run({"inspect", path});
  CHECK(outcome.status == 0);
  CHECK(outcome.errors.empty());
  // Mean 3; squared differences 4, 1, 0 and 9.
  CHECK(outcome.output ==
        "            type     shape        lowest  highest  mean    std\n"
        "model/\n"
        "  a/\n"
        "    bias    float64  [1]             0.5\n"
        "    weight  float32  [2, 2]            1        6     3  1.871\n"
        "  b         float32  [4]               1  2 NaN, 1 infinite\n"
        "  steps     int64    []      12345678901\n"
        "vocabulary  string   []      \"a b\\x0ac\"\n"
        "\n"
        "layout weft\n"
        "5 datasets, 9 numbers in 40 bytes; a file of " +
            std::to_string(std::filesystem::file_size(path) / 1000) + "," +
            std::to_string(std::filesystem::file_size(path) % 1000 + 1000).substr(1) +
            " bytes with a valid checksum\n"
            "3 numbers not finite\n");
}

TEST_CASE("h5weights inspect: files of other programs, and datasets that cannot be read",
          "[examples]") {
  const Outcome kinds = run({"inspect", golden + "hdf5_kinds.h5"});
  CHECK(kinds.status == 1);
  CHECK(is_one_line(kinds.errors));  // an integer of more than 63 bits
  CHECK(contains(kinds.errors, "hdf5_kinds.h5\" /integers/huge: expected integers below 2^63"));
  CHECK(contains(kinds.output, "huge                uint64              [1]"));
  CHECK(contains(kinds.output, "unreadable\n"));
  CHECK(contains(kinds.output, "truth                 bool"));
  CHECK(contains(kinds.output, "without a checksum\n"));
}

TEST_CASE("h5weights: statistics of a dataset that is read in blocks", "[examples]") {
  const Files files;
  const Index rows = 1100, columns = 1000;  // 8.8 MB as float64
  Tensor<float> values({rows, columns});
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = 1000.0f + static_cast<float>(i % 8);
  values.data()[600 * columns + 7] = not_a_number;
  const Hdf5File file(files.write("large.h5", values));
  const StoredDataset dataset = file.dataset("a/weight");
  const h5weights::Numbers numbers(dataset);
  CHECK(numbers.rows_in_block() == 524);
  const h5weights::Statistics statistics = h5weights::statistics_of(numbers);
  CHECK(statistics.finite == rows * columns - 1);
  CHECK(statistics.nans == 1);
  CHECK(statistics.first_non_finite == 600 * columns + 7);
  CHECK(statistics.lowest == 1000.0);
  CHECK(statistics.highest == 1007.0);
  CHECK(std::abs(statistics.mean - 1003.5) < 1e-5);
  CHECK(std::abs(statistics.standard_deviation - std::sqrt(5.25)) < 1e-5);
}

TEST_CASE("h5weights verify: complete and finite files pass", "[examples]") {
  const Files files;
  Random random(1);
  Linear<float> model({.in_features = 3, .out_features = 2}, random);
  const std::string path = (files.folder / "model.h5").string();
  save_weights(path, model);
  const Outcome own = run({"verify", path});
  CHECK(own.status == 0);
  CHECK(contains(own.output, "2 datasets complete, 8 numbers finite, checksum valid"));
  const Outcome other = run({"verify", golden + "torch_flat.h5"});
  CHECK(other.status == 0);
  CHECK(contains(other.output, "4 datasets complete, 58 numbers finite, no checksum\n"));
  for (const std::uintmax_t left : {45u, 1u}) {
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 46 + left);
    const Outcome damaged = run({"verify", path});
    CHECK(damaged.status == 1);
    CHECK(contains(damaged.errors, "expected the checksum of its contents in the last line"));
    save_weights(path, model);
  }
}

TEST_CASE("h5weights verify: damaged files and numbers that are not finite", "[examples]") {
  const Files files;
  const std::string path =
      files.write("bad.h5", Tensor<float>({2, 3}, {1, 2, 3, 4, not_a_number, infinite}));
  const Outcome bad = run({"verify", path});
  CHECK(bad.status == 1);
  CHECK(bad.output.empty());
  CHECK(is_one_line(bad.errors));
  CHECK(contains(bad.errors,
                 "bad.h5' /a/weight: expected finite numbers, got 1 NaN and 1 "
                 "infinite numbers, the first at [1, 1]"));

  std::string bytes = bytes_of(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_bytes(path, bytes);
  const Outcome damaged = run({"verify", path});
  CHECK(damaged.status == 1);
  CHECK(is_one_line(damaged.errors));
  CHECK(contains(damaged.errors, "checksum"));
}

TEST_CASE("h5weights diff: files are equal or differ, by name", "[examples]") {
  const Files files;
  const std::string a = files.write("a.h5", [](Hdf5Writer& writer) {
    writer.tensor("a/weight", Tensor<float>({2, 2}, {1, 2, 3, -4}));
    writer.tensor("b", Tensor<float>({2}, {not_a_number, 5}));
    writer.tensor("c", Tensor<float>({2}, {1, 1}));
    writer.tensor("d", Tensor<float>({1}, {1}));
    writer.value("text", std::string("one"));
  });
  const std::string b = files.write("b.h5", [](Hdf5Writer& writer) {
    writer.tensor("a.weight", Tensor<double>({2, 2}, {1, 2.5, 3, -4.25}));
    writer.tensor("b", Tensor<float>({2}, {not_a_number, infinite}));
    writer.tensor("c", Tensor<float>({1, 2}, {1, 1}));
    writer.tensor("e", Tensor<float>({1}, {1}));
    writer.value("text", std::string("two"));
  });
  const Outcome outcome = run({"diff", a, b});
  CHECK(outcome.status == 1);
  CHECK(outcome.errors.empty());
  CHECK(outcome.output ==
        "a.weight  [2, 2]: largest difference 0.5 at [0, 1], relative 0.2\n"
        "b  [2]: largest difference inf at [1], relative inf\n"
        "c  shapes [2] and [1, 2]\n"
        "d  [1]: only in " +
            a + "\ne  [1]: only in " + b +
            "\ntext  []: largest difference inf at [], relative inf\n"
            "6 differences in 4 datasets of both files\n");

  const Outcome same = run({"diff", a, a});
  CHECK(same.status == 0);
  CHECK(same.output == "5 datasets equal\n");
  // Dots and groups are the same.
  CHECK(run({"diff", golden + "torch_flat.h5", golden + "torch_nested.h5"}).status == 0);
}

TEST_CASE("h5weights diff: with a tolerance, and of a checkpoint and plain weights", "[examples]") {
  const Files files;
  const std::string a = files.write("a.h5", Tensor<float>({2}, {1, 2}));
  const std::string b = files.write("b.h5", [](Hdf5Writer& writer) {
    writer.tensor("model/a/weight", Tensor<float>({2}, {1, 2.125}));
    writer.value("progress/step", std::int64_t{3});
  });
  CHECK(run({"diff", a, b}).status == 1);
  const Outcome near = run({"diff", a, b, "--tolerance", "0.125"});
  CHECK(near.status == 0);
  CHECK(near.output == "1 dataset equal within the tolerance\n");
}

TEST_CASE("h5weights diff: integers of 64 bits are compared exactly", "[examples]") {
  const Files files;
  const auto write = [&](const std::string& name, std::int64_t value) {
    return files.write(name, [value](Hdf5Writer& writer) { writer.value("seed", value); });
  };
  const std::string a = write("a.h5", -2400484960167026931),
                    b = write("b.h5", -2400484960167026932);
  CHECK(run({"diff", a, a}).output == "1 dataset equal\n");
  const Outcome outcome = run({"diff", a, b});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.output, "largest difference 1 "));
}

TEST_CASE("h5weights diff: datasets of several blocks", "[examples]") {
  const Files files;
  Tensor<float> values({1100, 1000});
  const std::string a = files.write("a.h5", values);
  values(1099, 3) = 0.5f;
  const Outcome outcome = run({"diff", a, files.write("b.h5", values)});
  CHECK(contains(outcome.output, "largest difference 0.5 at [1099, 3], relative 1\n"));
}

TEST_CASE("h5weights: files that are none are one line on standard error", "[examples]") {
  const Files files;
  const std::string good = files.write("good.h5", Tensor<float>({2}, {1, 2}));
  const std::string bad = (files.folder / "bad.h5").string();
  const auto check = [&](const std::string& what) {
    INFO(what);
    for (const std::string command : {"inspect", "verify"}) {
      const Outcome outcome = run({command, bad});
      CHECK(outcome.status == 1);
      CHECK(is_one_line(outcome.errors));
      CHECK(contains(outcome.errors, "bad.h5"));
    }
    for (const auto& [a, b] : {std::pair{bad, good}, {good, bad}}) {
      const Outcome outcome = run({"diff", a, b});
      CHECK(outcome.status == 2);
      CHECK(is_one_line(outcome.errors));
      CHECK(contains(outcome.errors, "bad.h5"));
    }
  };
  check("missing");
  for (const std::string& bytes : {std::string(), std::string("text\n"), std::string(5000, '\0'),
                                   bytes_of(good).substr(0, 500)}) {
    write_bytes(bad, bytes);
    check("other bytes");
  }
  std::filesystem::remove(bad);
  std::filesystem::create_directory(bad);
  check("a directory");
  // Types that cannot be compared.
  const std::string kinds = golden + "hdf5_kinds.h5";
  const Outcome outcome = run({"diff", kinds, kinds});
  CHECK(outcome.status == 2);
  CHECK(is_one_line(outcome.errors));
}

TEST_CASE("h5weights: bad command lines are refused, and help is given", "[examples]") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"print"},
                                                    {"inspect"},
                                                    {"inspect", "a", "b"},
                                                    {"verify"},
                                                    {"diff", "a"},
                                                    {"diff", "a", "b", "c"},
                                                    {"diff", "a", "b", "--tolerance", "-1"},
                                                    {"inspect", "--all", "a"}})
    CHECK(run(arguments).status == 2);
  for (const char* command : {"inspect", "verify", "convert", "diff"}) {
    const Outcome help = run({command, "--help"});
    CHECK(help.status == 0);
    CHECK(contains(help.output, std::string("h5weights ") + command));
    CHECK(contains(run({"--help"}).output, std::string("  ") + command));
  }
}

TEST_CASE("h5weights convert: the help lists the layouts that it reads and writes", "[examples]") {
  std::istringstream words(run({"convert", "--help"}).output);
  std::string help, word;
  while (words >> word) help += ' ' + word;
  for (const std::string& name : convertible_layouts()) CHECK(contains(help, ' ' + name));
  for (const auto& [layout, name] : layout_names) CHECK(contains(help, std::string(name)));
}

TEST_CASE("h5weights convert: between layouts and types", "[examples]") {
  const Files files;
  const std::string source = golden + "gpt_huggingface_old.h5",
                    weft = (files.folder / "weft.h5").string(),
                    back = (files.folder / "gpt2.h5").string();
  const Outcome converted = run({"convert", source, weft});
  CHECK(converted.status == 0);
  CHECK(converted.output == weft +
                                ": 36 datasets in the layout weft, from GPT-2\n"
                                "left out: h.0.attn.bias\nleft out: h.0.attn.masked_bias\n"
                                "left out: h.1.attn.bias\nleft out: h.1.attn.masked_bias\n");
  CHECK(contains(run({"inspect", weft}).output, "\nlayout weft\n"));
  CHECK(run({"convert", weft, back, "--layout", "gpt2"}).status == 0);
  CHECK(run({"diff", back, golden + "gpt_huggingface.h5"}).status == 0);
  CHECK(run({"convert", weft, back, "--storage", "bfloat16"}).status == 0);
  CHECK(run({"verify", back}).status == 0);
  CHECK(run({"diff", weft, back}).status == 1);
  CHECK(run({"diff", weft, back, "--tolerance", "0.01"}).status == 0);
}

TEST_CASE("h5weights convert: averages of a checkpoint, unless the last weights are asked for",
          "[examples]") {
  const Files files;
  Random random(1);
  Linear<float> model({.in_features = 1, .out_features = 1, .bias = false}, random);
  model.weight.set_value(Tensor<float>({1, 1}, {2}));
  ExponentialMovingAverage average(model);
  average.update();
  model.weight.set_value(Tensor<float>({1, 1}, {3}));
  const std::string source = (files.folder / "best.h5").string(),
                    out = (files.folder / "out.h5").string();
  save_checkpoint(source, model, {{"average", average}});
  CHECK(run({"convert", source, out, "--layout", "pytorch"}).output ==
        out +
            ": 1 dataset in the layout pytorch, from weft, averaged\n"
            "left out: average/updates\nleft out: model/weight\n");
  CHECK(Hdf5File(out).tensor<float>("weight")(0, 0) == 2.0f);
  CHECK(run({"convert", source, out, "--layout", "pytorch", "--averaged=false"}).output ==
        out +
            ": 1 dataset in the layout pytorch, from weft\n"
            "left out: average/updates\nleft out: average/weight\n");
  CHECK(Hdf5File(out).tensor<float>("weight")(0, 0) == 3.0f);
}

TEST_CASE("h5weights convert: errors are one line, and change no file", "[examples]") {
  const Files files;
  const std::string out = (files.folder / "out.h5").string(), good = golden + "torch_flat.h5";
  const auto error_of = [&](const std::vector<std::string>& arguments, int status) {
    const Outcome outcome = run(arguments);
    CHECK(outcome.status == status);
    CHECK(is_one_line(outcome.errors));
    CHECK_FALSE(std::filesystem::is_regular_file(out));
    return outcome.errors;
  };
  CHECK(contains(error_of({"convert", good}, 2), "expected IN OUT, got 1 argument"));
  CHECK(contains(error_of({"convert", good, out, "--layout", "keras"}, 2), "one of weft, pytorch"));
  CHECK(contains(error_of({"convert", good, out, "--storage", "int8"}, 2), "one of same, float16"));
  CHECK(contains(error_of({"convert", good, out, "--layout", "bert"}, 1), "in the layout bert"));
  CHECK(contains(error_of({"convert", golden + "keras_30.weights.h5", out}, 1), "Keras 3"));
  CHECK(contains(error_of({"convert", out, out}, 1), "out.h5"));
  CHECK(contains(error_of({"convert", good, (files.folder / "no" / "out.h5").string()}, 1), "no"));
  CHECK(contains(error_of({"convert", good, good}, 1), "expected a file that is not an input"));
  std::filesystem::create_directory(out);
  CHECK(contains(error_of({"convert", good, out}, 1), "expected a regular file to replace"));
}
