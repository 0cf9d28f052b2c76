#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/weights/recorded_state.hpp"

namespace weft {
namespace {

// A state with an entry of each kind.
template <class T = float>
struct Notes final : Stateful<T> {
  Tensor<T> tensor = Tensor<T>({3}, {1, 2, 3});
  std::int64_t integer = 7;
  bool flag = true;
  double number = 0.1;
  std::string text = "päper\nand ink";

  void state(State<T>& state) override {
    state.tensor("a.tensor", tensor);
    state.integer("integer", integer);
    state.flag("flag", flag);
    state.number("number", number);
    state.text("text", text);
  }
  void check_state() const override {
    if (integer < 0) fail<ValueError>("integer", "a number ≥ 0", integer);
  }
};

template <class T>
Affine<T> random_model(std::uint64_t seed) {
  Affine<T> model({3, 4}, {3});
  Random random(seed);
  model.weight = Parameter<T>(random.normal_tensor<T>({3, 4}));
  model.bias = Parameter<T>(random.normal_tensor<T>({3}));
  return model;
}

// The bytes of a tensor, to compare bit for bit.
template <class T>
std::string bytes_of(const Tensor<T>& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()),
          static_cast<std::size_t>(tensor.size()) * sizeof(T)};
}
template <class T>
std::string bytes_of(const Affine<T>& model) {
  return bytes_of(model.weight.value()) + bytes_of(model.bias.value());
}
template <class T>
std::string bytes_of(const Notes<T>& notes) {
  return str_cat(bytes_of(notes.tensor), notes.integer, ' ', notes.flag, ' ', notes.number,
                 notes.text);
}

// The message of the error on loading a checkpoint; checks that nothing has changed.
template <class E>
std::string error_of_loading(const std::filesystem::path& path) {
  Affine<float> model = random_model<float>(2);
  Notes<float> notes;
  const std::string before = bytes_of(model) + bytes_of(notes);
  const std::string message = message_of<E>([&] {
    load_checkpoint(path, model, {{"notes", notes}});
  });
  CHECK_FALSE(message.empty());
  CHECK(bytes_of(model) + bytes_of(notes) == before);
  return message;
}

}  // namespace

TEST_CASE("checkpoint: a real number that an earlier version stored as an integer is read",
          "[train]") {
  struct Old final : Stateful<float> {
    std::int64_t sum = 12;
    void state(State<float>& state) override { state.integer("sum", sum); }
  } old;
  struct New final : Stateful<float> {
    double sum = 0.0;
    void state(State<float>& state) override { state.number("sum", sum); }
  } current;
  const TemporaryFolder folder;
  auto model = random_model<float>(1);
  save_checkpoint(folder / "old.h5", model, {{"progress", old}});
  load_checkpoint(folder / "old.h5", model, {{"progress", current}});
  CHECK(current.sum == 12.0);
}

TEST_CASE("checkpoint: a flag is stored as 0 or 1, and other numbers are refused", "[train]") {
  struct Number final : Stateful<float> {
    std::int64_t value = 1;
    void state(State<float>& state) override { state.integer("flag", value); }
  } number;
  struct Flag final : Stateful<float> {
    bool value = false;
    void state(State<float>& state) override { state.flag("flag", value); }
  } flag;
  const TemporaryFolder folder;
  auto model = random_model<float>(1);
  save_checkpoint(folder / "a.h5", model, {{"state", number}});
  load_checkpoint(folder / "a.h5", model, {{"state", flag}});
  CHECK(flag.value);
  save_checkpoint(folder / "b.h5", model, {{"state", flag}});
  number.value = 5;
  load_checkpoint(folder / "b.h5", model, {{"state", number}});
  CHECK(number.value == 1);
  number.value = 2;
  save_checkpoint(folder / "c.h5", model, {{"state", number}});
  CHECK(contains(message_of<FileError>([&] {
                   load_checkpoint(folder / "c.h5", model, {{"state", flag}});
                 }),
                 "c.h5\" /state/flag: expected 0 or 1, got 2"));
}

TEMPLATE_TEST_CASE("checkpoint: everything is restored bit for bit", "[train]", float, double) {
  const TemporaryFolder folder;
  Affine<TestType> model = random_model<TestType>(1);
  Notes<TestType> notes;
  notes.tensor(1) = TestType(-0.0);
  notes.integer = std::numeric_limits<std::int64_t>::max();
  notes.number = std::numeric_limits<double>::infinity();
  notes.text = "";
  save_checkpoint(folder / "model.h5", model, {{"notes", notes}});

  Affine<TestType> loaded = random_model<TestType>(2);
  Notes<TestType> loaded_notes;
  load_checkpoint(folder / "model.h5", loaded, {{"notes", loaded_notes}});
  CHECK(bytes_of(loaded) == bytes_of(model));
  CHECK(bytes_of(loaded_notes) == bytes_of(notes));
}

TEST_CASE("checkpoint: paths in the file are names with '/' for '.'", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model = random_model<float>(1);
  Notes<> notes;
  save_checkpoint(folder / "model.h5", model, {{"notes", notes}});
  const Hdf5File file(folder / "model.h5");
  CHECK(file.datasets() ==
        std::vector<std::string>{"/model/bias", "/model/weight", "/notes/a/tensor", "/notes/flag",
                                 "/notes/integer", "/notes/number", "/notes/text"});
  CHECK(file.attribute<std::int64_t>("/", "format_version") == 1);
}

TEST_CASE("checkpoint: the same state gives the same bytes", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model = random_model<float>(1);
  save_checkpoint(folder / "a.h5", model);
  save_checkpoint(folder / "b.h5", model);
  CHECK(bytes_of(folder / "a.h5") == bytes_of(folder / "b.h5"));
}

TEST_CASE("checkpoint: single states can be loaded", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model = random_model<float>(1);
  Notes<> notes;
  notes.text = "stored";
  save_checkpoint(folder / "model.h5", model, {{"notes", notes}});

  Notes<> configuration;
  load_state(folder / "model.h5", "notes", configuration);
  CHECK(configuration.text == "stored");
  Affine<float> loaded = random_model<float>(2);
  load_checkpoint(folder / "model.h5", loaded);
  CHECK(bytes_of(loaded) == bytes_of(model));
  CHECK_THAT(message_of<FileError>([&] { load_state(folder / "model.h5", "other", notes); }),
             Catch::Contains("model.h5\" /other: expected an object, got no object of this name"));
}

TEST_CASE("checkpoint: an optimizer is resumed", "[train]") {
  const TemporaryFolder folder;
  const auto train = [](Affine<float>& model, Optimizer<float>& optimizer, int steps) {
    for (int step = 0; step < steps; ++step) {
      for (const auto& [name, parameter] : named_parameters(model))
        parameter->set_grad(Tensor<float>::full(parameter->shape(), 0.5f));
      optimizer.step();
    }
  };
  Affine<float> model = random_model<float>(1);
  AdamW<float> optimizer(model, {});
  train(model, optimizer, 3);
  save_checkpoint(folder / "model.h5", model, {{"optimizer", optimizer}});
  train(model, optimizer, 3);

  Affine<float> resumed = random_model<float>(2);
  AdamW<float> resumed_optimizer(resumed, {});
  load_checkpoint(folder / "model.h5", resumed, {{"optimizer", resumed_optimizer}});
  CHECK(resumed_optimizer.steps() == 3);
  train(resumed, resumed_optimizer, 3);
  CHECK(bytes_of(resumed) == bytes_of(model));
}

TEST_CASE("checkpoint: another model's checkpoint throws, listing every difference", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "model.h5");
  writer.attribute("format_version", std::int64_t{1});
  writer.tensor("/model/weight", Tensor<float>({4, 3}));
  writer.tensor("/model/scale", Tensor<float>({3}));
  writer.tensor("/model/shift/0", Tensor<float>({3}));
  writer.save();
  const std::string message = error_of_loading<FileError>(folder / "model.h5");
  CHECK_THAT(message, Catch::Contains("model.h5\" /model: expected the names, shapes and types"));
  CHECK_THAT(message, Catch::Contains("missing (1): bias [3]"));
  CHECK_THAT(message, Catch::Contains("unexpected (2): scale, shift.0"));
  CHECK_THAT(message, Catch::Contains(
                          "different shape (1): weight: expected [3, 4], got [4, 3] (transposed?"));
}

TEST_CASE("checkpoint: a double model is not loaded as a float model", "[train]") {
  const TemporaryFolder folder;
  Affine<double> model = random_model<double>(1);
  save_checkpoint(folder / "model.h5", model);
  CHECK_THAT(error_of_loading<FileError>(folder / "model.h5"),
             Catch::Contains("different type (2): weight: expected float32, got float64"));
}

TEST_CASE("checkpoint: a group instead of a dataset, and the reverse", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "model.h5");
  writer.attribute("format_version", std::int64_t{1});
  writer.tensor("/model/weight/data", Tensor<float>({3, 4}));
  writer.tensor("/model/bias", Tensor<float>({3}));
  writer.tensor("/notes", Tensor<float>({3}));
  writer.save();
  CHECK_THAT(error_of_loading<FileError>(folder / "model.h5"),
             Catch::Contains("missing (1): weight [3, 4]; unexpected (1): weight.data"));
  Notes<> notes;
  CHECK_THAT(message_of<FileError>([&] { load_state(folder / "model.h5", "notes", notes); }),
             Catch::Contains("/notes: expected a group, got"));
}

TEST_CASE("checkpoint: an invalid state throws, and nothing changes", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model = random_model<float>(1);
  Notes<> notes;
  notes.integer = -1;
  save_checkpoint(folder / "model.h5", model, {{"notes", notes}});
  CHECK_THAT(error_of_loading<ValueError>(folder / "model.h5"),
             Catch::Contains("model.h5\" /notes: integer: expected a number ≥ 0, got -1"));
}

TEST_CASE("checkpoint: a state that names something else each time throws, and nothing changes",
          "[train]") {
  // Named for saving and for reading the file; then `change` is named instead.
  struct Fickle final : Stateful<float> {
    std::function<void(State<float>&, Fickle&)> change;
    std::int64_t first = 1, second = 2;
    Tensor<float> tensor = Tensor<float>({3}, {1, 2, 3});
    int calls = 0;

    void state(State<float>& state) override {
      if (++calls > 1) return change(state, *this);
      state.integer("first", first);
      state.integer("second", second);
      state.tensor("tensor", tensor);
    }
  };
  using Change = std::function<void(State<float>&, Fickle&)>;
  const Change more = [](State<float>& state, Fickle& fickle) {
    fickle.calls = 0;
    fickle.state(state);
    state.integer("third", fickle.second);
    fickle.calls = 1;
  };
  const Change fewer = [](State<float>& state, Fickle& fickle) {
    state.integer("first", fickle.first);
  };
  const Change other_kind = [](State<float>& state, Fickle& fickle) {
    state.integer("first", fickle.first);
    double number = 0.0;
    state.number("second", number);
  };
  const Change other_shape = [](State<float>& state, Fickle& fickle) {
    state.integer("first", fickle.first);
    state.integer("second", fickle.second);
    Tensor<float> shorter({2});
    state.tensor("tensor", shorter);
  };
  const TemporaryFolder folder;
  Affine<float> model = random_model<float>(1);
  Fickle saved;
  saved.first = 10;
  saved.second = 20;
  saved.tensor.fill(30.0f);
  save_checkpoint(folder / "model.h5", model, {{"fickle", saved}});
  for (const Change& change : {more, fewer, other_kind, other_shape}) {
    Affine<float> loaded = random_model<float>(2);
    const std::string before = bytes_of(loaded);
    Fickle fickle;
    fickle.change = change;
    CHECK_THROWS_AS(load_checkpoint(folder / "model.h5", loaded, {{"fickle", fickle}}), ValueError);
    CHECK(bytes_of(loaded) == before);
    CHECK(fickle.first == 1);
    CHECK(fickle.second == 2);
    CHECK(fickle.tensor(2) == 3.0f);
  }
}

TEST_CASE("checkpoint: invalid optimizer states throw", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model = random_model<float>(1);
  AdamW<float> optimizer(model, {});
  const auto error_of_resuming = [&](Optimizer<float>& resumed) {
    const std::map before = RecordedState<float>(resumed).integers;
    const std::string message = message_of<Error>([&] {
      load_checkpoint(folder / "model.h5", model, {{"optimizer", resumed}});
    });
    CHECK(resumed.steps() == 0);
    return message;
  };
  const auto save = [&] {
    save_checkpoint(folder / "model.h5", model, {{"optimizer", optimizer}});
  };
  RecordedState<float> state(optimizer);
  AdamW<float> resumed(model, {});

  *state.integers.at("step") = -3;
  save();
  CHECK_THAT(error_of_resuming(resumed),
             Catch::Contains("AdamW: step: expected a number ≥ 0, got -3"));
  *state.integers.at("step") = 3;
  (*state.tensors.at("second_moment.weight"))(1, 0) = -0.5f;
  save();
  CHECK_THAT(error_of_resuming(resumed),
             Catch::Contains("second_moment of weight: expected values ≥ 0, got -0.5 at [1, 0]"));
  SGD<float> other(model, {.lr = 0.1});
  CHECK_THAT(error_of_resuming(other), Catch::Contains("unexpected"));
}

TEST_CASE("checkpoint: a later format throws", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "model.h5");
  writer.attribute("format_version", std::int64_t{2});
  writer.attribute("weft_version", std::string("7.1"));
  writer.save();
  CHECK_THAT(
      error_of_loading<FileError>(folder / "model.h5"),
      Catch::Contains("expected a checkpoint of format 1, got format 2, written by weft 7.1"));
}

TEST_CASE("checkpoint: saving a NaN throws, and the old file is unchanged", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model = random_model<float>(1);
  Notes<> notes;
  save_checkpoint(folder / "model.h5", model, {{"notes", notes}});
  const std::string before = bytes_of(folder / "model.h5");
  const auto error_of_saving = [&] {
    return message_of<NonFiniteError>([&] {
      save_checkpoint(folder / "model.h5", model, {{"notes", notes}});
    });
  };
  notes.tensor(2) = std::numeric_limits<float>::infinity();
  CHECK_THAT(error_of_saving(),
             Catch::Contains("/notes/a/tensor: expected finite numbers, got inf at [2] of [3]"));
  model.weight(1, 2) = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(
      error_of_saving(),
      Catch::Contains("/model/weight: expected finite numbers, got nan at [1, 2] of [3, 4]"));
  CHECK(bytes_of(folder / "model.h5") == before);
}

TEST_CASE("checkpoint: a NaN in a file changes nothing", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "model.h5");
  writer.attribute("format_version", std::int64_t{1});
  writer.attribute("weft_version", std::string("0"));
  writer.tensor("/model/weight", Tensor<float>::full({3, 4}, 2.0f));
  writer.tensor("/model/bias",
                Tensor<float>({3}, {1.0f, std::numeric_limits<float>::quiet_NaN(), 1.0f}));
  writer.save();
  auto model = random_model<float>(1);
  const std::string before = bytes_of(model.weight.value());
  CHECK_THAT(message_of<NonFiniteError>([&] { load_checkpoint(folder / "model.h5", model); }),
             Catch::Contains("nan at [1] of [3]"));
  CHECK(bytes_of(model.weight.value()) == before);
}

TEST_CASE("checkpoint: invalid names and strings throw", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model = random_model<float>(1);
  Notes<> notes;
  for (const char* name : {"", ".", "a..b", ".a", "a.", "a/b"})
    CHECK_THROWS_AS(save_checkpoint(folder / "model.h5", model, {{name, notes}}), ValueError);
  Notes<> other;
  using States = NamedStates<float>;
  for (const States& states : {States{{"model", notes}}, States{{"model.notes", notes}},
                               States{{"notes", notes}, {"notes", other}},
                               States{{"notes.other", other}, {"notes", notes}}})
    CHECK_THAT(message_of<ValueError>([&] { save_checkpoint(folder / "model.h5", model, states); }),
               Catch::Contains("expected a group outside all other groups, got a group in '"));
  for (const std::string name : {"a\nb", "a\x1b"})
    CHECK_THROWS_AS(save_checkpoint(folder / "model.h5", model, {{name, notes}}), ValueError);
  notes.text = std::string("a\0b", 3);
  CHECK_THAT(message_of<ValueError>([&] {
               save_checkpoint(folder / "model.h5", model, {{"notes", notes}});
             }),
             Catch::Contains("/notes/text: expected a string without NUL"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("checkpoint: a file of another program or kind throws", "[train]") {
  const TemporaryFolder folder;
  CHECK_THAT(
      error_of_loading<FileError>(WEFT_TEST_DATA "/hdf5_kinds.h5"),
      Catch::Contains(
          "expected a file written by weft, with a checksum in the last line, got no checksum"));
  Hdf5Writer(folder / "other.h5").save();
  CHECK_THAT(error_of_loading<FileError>(folder / "other.h5"),
             Catch::Contains("expected a checkpoint, got"));
}

TEST_CASE("checkpoint: a truncated file throws", "[train]") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "model.h5";
  Affine<float> model = random_model<float>(1);
  Notes<> notes;
  save_checkpoint(path, model, {{"notes", notes}});
  for (std::uintmax_t size = std::filesystem::file_size(path); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    REQUIRE_THROWS_AS(load_checkpoint(path, model, {{"notes", notes}}), FileError);
  }
}

TEST_CASE("checkpoint: a file with any byte changed throws", "[train]") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "model.h5";
  Affine<float> model = random_model<float>(1);
  Notes<> notes;
  save_checkpoint(path, model, {{"notes", notes}});
  const std::string bytes = bytes_of(path);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](std::size_t position, int byte) {
    file.seekp(static_cast<std::streamoff>(position)).put(static_cast<char>(byte)).flush();
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    put(i, bytes[i] ^ 0x20);
    REQUIRE_THROWS_AS(load_checkpoint(path, model, {{"notes", notes}}), FileError);
    put(i, bytes[i]);
  }
  load_checkpoint(path, model, {{"notes", notes}});
}

TEST_CASE("checkpoint: after a kill at any time, the newest complete one is loaded", "[train]") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "model.h5";
  Affine<float> model({64, 64}, {64});
  Notes<> notes;
  const auto save = [&](std::int64_t step) {
    std::ranges::fill(model.weight.values(), static_cast<float>(step));
    notes.integer = step;
    save_checkpoint(path, model, {{"notes", notes}});
  };
  save(0);
  Random random(1);
  for (int kill = 0; kill < 20; ++kill) {
    const pid_t child = ::fork();
    if (child == 0)
      for (std::int64_t step = notes.integer + 1;; ++step) save(step);
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(30'000)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::int64_t before = notes.integer;
    load_checkpoint(path, model, {{"notes", notes}});
    CHECK(notes.integer >= before);
    for (float value : model.weight.value()) REQUIRE(value == static_cast<float>(notes.integer));
  }
}

}  // namespace weft
