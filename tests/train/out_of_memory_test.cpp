// Memory that ends at any allocation: an exception, and nothing else has happened. Files in JSON
// are not tested: nlohmann-json allocates memory in destructors, and ends the program if there is
// none.
#include <new>
#include <vector>

#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/clip.hpp>
#include <weft/train/text/generation/generate.hpp>
#include <weft/train/text/generation/sampling.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/allocations.hpp"
#include "tests/catch.hpp"
#include "tests/thread_count_guard.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {
namespace {

// Runs `action` with memory for 0, 1, 2, … allocations, until it succeeds or throws an Error of
// which the message fits, and `check` after each failure. Of the numbers of allocations above 1000,
// tries one in n / 1000.
template <class Action, class Check>
void run_out_of_memory(const Action& action, const Check& check) {
  const ThreadCountGuard one_thread(1);  // the one whose allocations fail
  for (std::int64_t successes = 0;; successes += 1 + successes / 1000) {
    bool enough = false;
    try {
      allocations_left = successes;
      action();
      enough = true;
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      // The library, too, may run out of memory.
      enough = std::string_view(error.what()).find("memory") == std::string_view::npos;
    }
    allocations_left = -1;
    if (enough) return;
    check();
    REQUIRE(successes < 1'000'000);
  }
}

struct Files {
  TemporaryFolder folder;
  std::filesystem::path good = folder / "good.h5";
  std::filesystem::path bad = folder / "bad.h5";

  Files() {
    Hdf5Writer writer(good);
    for (const char* name : {"weight", "bias", "a dataset with a long name", "and/some/groups"})
      writer.tensor(name, Tensor<float>::full({3}, 2.0f));
    writer.save();
    write_bytes(bad, std::string(5000, 'x'));
  }
};

Gpt<float> small_gpt(Random& random) {
  return {{.vocabulary_size = 11, .max_len = 6, .num_hiddens = 8, .num_heads = 2, .num_blocks = 1},
          random};
}

std::vector<float> values_of(const Module<float>& model) {
  std::vector<float> values;
  for (const auto& [name, parameter] : named_parameters(model))
    values.insert(values.end(), parameter->value().begin(), parameter->value().end());
  return values;
}

}  // namespace

TEST_CASE("out of memory: reading a file throws", "[train]") {
  const Files files;
  std::size_t datasets = 0;
  run_out_of_memory(
      [&] {
        const Hdf5File file(files.good);
        datasets = file.datasets().size();
      },
      [] {});
  CHECK(datasets == 4);
  std::string message;
  run_out_of_memory(
      [&] {
        try {
          const Hdf5File file(files.bad);
        } catch (const FileError& error) {
          message = error.what();
          throw;
        }
      },
      [] {});
  CHECK_THAT(message, Catch::Contains("expected an HDF5 file, got other data"));
}

TEST_CASE("out of memory: loading throws, and the model is unchanged", "[train]") {
  const Files files;
  Affine<float> model({3}, {3});
  const auto unchanged = [&] {
    for (const float value : model.weight.value()) REQUIRE(value == 0.0f);
    for (const float value : model.bias.value()) REQUIRE(value == 0.0f);
  };
  run_out_of_memory(
      [&] {
        const LoadWeightsReport report =
            load_weights(files.good, model, {.ignore_unexpected = {".*"}});
      },
      unchanged);
  CHECK(model.weight.value()(2) == 2.0f);

  const std::filesystem::path checkpoint = files.folder / "checkpoint.h5";
  save_checkpoint(checkpoint, model);
  model = Affine<float>({3}, {3});
  run_out_of_memory([&] { load_checkpoint(checkpoint, model); }, unchanged);
  CHECK(model.weight.value()(2) == 2.0f);
}

TEST_CASE("out of memory: saving throws, and the old file is unchanged", "[train]") {
  const Files files;
  const std::filesystem::path checkpoint = files.folder / "checkpoint.h5";
  Affine<float> model({3}, {3});
  save_checkpoint(checkpoint, model);
  const std::string before = bytes_of(checkpoint);
  model.weight = Parameter<float>(Tensor<float>::full({3}, 1.0f));
  run_out_of_memory([&] { save_checkpoint(checkpoint, model); },
                    [&] { REQUIRE(bytes_of(checkpoint) == before); });
  CHECK(bytes_of(checkpoint) != before);
}

TEST_CASE("out of memory: a training step throws, and the model is unchanged", "[train]") {
  Random random(1);
  Gpt<float> model = small_gpt(random);
  AdamW<float> optimizer(model, {.lr = 0.1});
  const Tokens tokens({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const std::vector<float> before = values_of(model);
  run_out_of_memory(
      [&] {
        optimizer.zero_grad();
        Tape<float> tape({.training = true});
        tape.backward(cross_entropy(model(tape, tokens), tokens));
        optimizer.step(clip_factor(optimizer.grad_norm(), 1.0));
      },
      [&] { REQUIRE(values_of(model) == before); });
  CHECK(values_of(model) != before);
}

TEST_CASE("out of memory: weights in other layouts are loaded entirely or not at all", "[train]") {
  Random random(1);
  const Gpt<float> stored = small_gpt(random);
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "weights.h5";
  for (const Layout layout : {Layout::pytorch, Layout::pytorch_nested, Layout::gpt2}) {
    save_weights(file, stored, {.layout = layout});
    Gpt<float> model = small_gpt(random);
    const std::vector<float> before = values_of(model);
    run_out_of_memory([&] { (void)load_weights(file, model); },
                      [&] { REQUIRE(values_of(model) == before); });
    CHECK(values_of(model) == values_of(stored));
  }
}

TEST_CASE("out of memory: generating throws, and the model is unchanged", "[train]") {
  Random random(1);
  const Gpt<float> model = small_gpt(random);
  const std::vector<float> before = values_of(model);
  const TokenIds prompt{1, 2};
  TokenIds generated;
  run_out_of_memory(
      [&] { generated = generate(model, prompt, {.max_tokens = 9, .sampling = {.top_k = 3}}); },
      [&] { REQUIRE(values_of(model) == before); });
  CHECK(generated.size() == 9);
}

TEST_CASE("out of memory: sampling needs memory for the first token only", "[train]") {
  Random random(1);
  const Tensor<float> logits = random.normal_tensor({2000});
  const TokenIds context{3, 4, 3};
  for (const SamplingOptions& options :
       {SamplingOptions{},
        {.temperature = 0},
        {.top_k = 100},
        {.top_p = 0.9},
        {.min_p = 0.1},
        {.top_k = 500, .top_p = 0.99, .min_p = 0.01, .repetition_penalty = 1.2}}) {
    Sampler<float> sampler(options);
    (void)sampler(logits.values(), context);
    const Tensor<float> others = random.normal_tensor({2000});
    allocations_left = 0;
    for (int i = 0; i < 20; ++i) (void)sampler(others.values(), context);
    allocations_left = -1;
  }
}

}  // namespace weft
