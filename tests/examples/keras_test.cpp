#include <filesystem>

#include <weft/train/data/csv.hpp>
#include <weft/train/pretrained/keras/keras_files.hpp>
#include "examples/keras/arrays.hpp"
#include "examples/keras/losses.hpp"
#include "examples/keras/program.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/examples/outcome.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

const std::string model = WEFT_SOURCE "/examples/data/sines.keras";
const std::string data = WEFT_SOURCE "/examples/data/sines.csv";

Outcome run(const std::vector<std::string>& arguments) {
  setenv("NO_COLOR", "1", 1);
  return outcome_of(keras::run_program, "keras", arguments);
}

// Writes the inputs of three examples as CSV.
void write_inputs(const std::filesystem::path& path) {
  std::string text = "a,b,c,d,e,f,g,h,i,j,k,l\n";
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 12; ++column)
      text += str_cat(0.1 * row - 0.05 * column, column == 11 ? "\n" : ",");
  write_bytes(path, text);
}

}  // namespace

TEST_CASE("keras summary shows layers, inputs and the loss", "[examples]") {
  const Outcome shown = run({"summary", model, "--parameters"});
  CHECK(shown.status == 0);
  CHECK(contains(shown.output, "  (dense): Dense(units=1)\n"));
  CHECK(contains(shown.output,
                 "input series [batch, 12, 1]\ntrained with mean_squared_error\n"
                 "473 parameters\n"));
  CHECK(contains(shown.output, "gru.cell.recurrent_kernel"));
}

TEST_CASE("keras predict reads CSV and .npy, and writes both", "[examples]") {
  const TemporaryFolder folder;
  const std::string csv = folder / "x.csv", npy = folder / "x.npy";
  write_inputs(csv);
  const Tensor<float> rows = read_csv(csv).numbers();
  keras::write_npy(npy, rows.reshaped({3, 12, 1}));
  const Outcome printed = run({"predict", model, csv});
  CHECK(printed.status == 0);
  CHECK(run({"predict", model, npy}).output == printed.output);
  for (const std::string name : {"y.npy", "y.csv"}) {
    const Outcome written = run({"predict", model, csv, "--batch=2", "--out", folder / name});
    CHECK(written.output == "wrote [3, 1] to " + (folder / name).string() + "\n");
  }
  CHECK(bytes_of(folder / "y.csv") == printed.output);
  const Tensor<float> y = keras::read_npy(folder / "y.npy");
  CHECK(same(y, read_csv(folder / "y.csv").numbers()));
  Tape<float> tape = Tape<float>::inference();
  CHECK(same(y, load_keras(model)(tape.constant(rows.reshaped({3, 12, 1}))).value()));
}

TEST_CASE("keras finetune trains a model and saves it for Keras", "[examples]") {
  const TemporaryFolder folder;
  const Outcome trained =
      run({"finetune", model, data, "--out", folder.path(), "--epochs=2", "--lr=0.003"});
  CHECK(trained.errors.empty());
  CHECK(trained.status == 0);
  CHECK(contains(trained.output, "270 training examples, 30 validation examples\n"));
  CHECK(contains(trained.output, "saved " + (folder / "model.keras").string()));
  const Outcome before = run({"predict", model, folder / "x.csv"});
  write_inputs(folder / "x.csv");
  CHECK(run({"predict", model, folder / "x.csv"}).output !=
        run({"predict", folder / "model.keras", folder / "x.csv"}).output);
  const Outcome resumed = run({"finetune", model, data, "--out", folder.path(), "--resume"});
  CHECK(resumed.status == 0);
}

TEST_CASE("keras names what is wrong with its inputs", "[examples]") {
  const TemporaryFolder folder;
  const std::string csv = folder / "x.csv";
  const auto refused = [&](const std::vector<std::string>& arguments, int status,
                           const std::string& message) {
    INFO(message);
    const Outcome outcome = run(arguments);
    CHECK(outcome.status == status);
    CHECK(is_one_line(outcome.errors));
    CHECK(contains(outcome.errors, message));
  };
  refused({"summary"}, 2, "command line: expected MODEL, got 0 arguments");
  refused({"summary", "none.h5"}, 1, "none.h5");
  refused({"predict", model}, 2, "command line: expected MODEL INPUT..., got 1 arguments");
  write_bytes(csv, "a,b\n1,2\n");
  refused({"predict", model, csv}, 1,
          "input series: expected rows of [12, 1], got rows of 2 numbers");
  write_bytes(csv, "a\nx\n");
  refused({"predict", model, csv}, 1, "'x'");
  write_inputs(csv);
  refused({"predict", model, csv, csv}, 1,
          "inputs: expected 1, one file per input of the model, got 2");
  refused({"predict", model, csv, "--out", "y.txt"}, 1,
          "option --out: expected a name that ends in .npy or .csv, got 'y.txt'");
  refused({"predict", model, csv, "--out", csv}, 1, "x.csv");
  refused({"finetune", model, csv, "--loss=hinge", "--out", folder / "a"}, 1,
          "option --loss: expected mse, mae, binary_crossentropy, categorical_crossentropy or "
          "sparse_categorical_crossentropy, got 'hinge'");
  refused({"finetune", model, csv, "--out", folder / "a"}, 1,
          "input series: expected rows of [12, 1], got rows of 11 numbers");
  refused({"finetune", model, csv, "--targets=12", "--out", folder / "a"}, 1,
          "expected columns of the input and 12 columns of targets, got 12 columns");
}

TEST_CASE("read_npy refuses other files", "[examples]") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  keras::write_npy(path, Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(same(keras::read_npy(path), Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
  const std::string bytes = bytes_of(path);
  const auto message = [&](const std::string& contents) {
    write_bytes(path, contents);
    return message_of<FileError>([&] { keras::read_npy(path); });
  };
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string other = bytes;
    return other.replace(other.find(from), from.size(), to);
  };
  CHECK(contains(message("PK\3\4"), "expected a .npy file, got other data"));
  CHECK(contains(message(bytes.substr(0, bytes.size() - 1)), "expected 6 numbers, got fewer"));
  CHECK(contains(message(bytes + "x"), "expected 6 numbers, got more"));
  CHECK(contains(message(replaced("<f4", "<c8")), "got type '<c8'"));
  CHECK(contains(message(replaced("False", "True ")), "got Fortran order"));
  CHECK(contains(message(replaced("(2, 3, )", "(2, -3,)")), "numbers, got shape (2, -3"));
  CHECK(contains(message(replaced("(2, 3, )", "(99999, 99999)")), "numbers, got shape"));
}

TEST_CASE("the losses are those of Keras, by hand", "[examples]") {
  Tape<float> tape;
  const auto value = [&](const std::string& name, const Tensor<float>& y, const Tensor<float>& t) {
    return keras::loss_named(name)(tape.constant(y), t).value().data()[0];
  };
  CHECK(value("mse", {{1, 2}, {1, 3}}, {{1, 2}, {0, 0}}) == 5);
  CHECK(value("mae", {{1, 2}, {1, -3}}, {{1, 2}, {0, 0}}) == 2);
  CHECK(value("binary_crossentropy", {{1, 2}, {0.25f, 0.5f}}, {{1, 2}, {0, 1}}) ==
        Approx(-(std::log(0.75) + std::log(0.5)) / 2));
  CHECK(value("sparse_categorical_crossentropy", {{2, 2}, {0.25f, 0.75f, 1, 0}},
              {{2, 1}, {1, 1}}) == Approx(-(std::log(0.75) + std::log(1e-7)) / 2));
  CHECK(value("categorical_crossentropy", {{2, 2}, {0.5f, 1.5f, 1, 0}}, {{2, 2}, {0, 1, 0, 1}}) ==
        Approx(-(std::log(0.75) + std::log(1e-7)) / 2));
  CHECK(message_of<ValueError>([&] {
          value("categorical_crossentropy", {{1, 2}, {0.5f, 0.5f}}, {{1, 2}, {2, 0}});
        }) == "targets: expected probabilities between 0 and 1, got 2");
  CHECK(message_of<ValueError>([&] {
          value("sparse_categorical_crossentropy", {{1, 2}, {0.5f, 0.5f}}, {{1, 1}, {2}});
        }) == "targets: expected classes between 0 and 1, got 2");
}
