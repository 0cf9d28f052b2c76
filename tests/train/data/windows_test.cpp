#include <numeric>

#include <weft/autograd/error.hpp>
#include <weft/train/data/hdf5_rows.hpp>
#include <weft/train/data/windows.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

void write_tokens(const std::filesystem::path& path, const Tokens& tokens) {
  Hdf5Writer writer(path);
  writer.tensor("/tokens", tokens);
  writer.save();
}

// 0, 1, 2, … as tokens.
Tokens counted(Index count) {
  Tokens tokens({count});
  std::iota(tokens.begin(), tokens.end(), TokenId{0});
  return tokens;
}

template <class E>
std::vector<E> values(const Tensor<E>& tensor) {
  return {tensor.begin(), tensor.end()};
}

std::vector<TokenId> first_inputs(WindowBatches<TokenId>& windows, std::int64_t epoch) {
  std::vector<TokenId> first;
  for (Index position = 0; position < windows.num_batches(); ++position) {
    const TensorBatch<TokenId> batch = windows.batch(epoch, position);
    for (Index i = 0; i < num_examples(batch); ++i) first.push_back(batch.inputs(i, 0));
  }
  return first;
}

}  // namespace

TEST_CASE("windows: inputs and the tokens that follow each of them", "[train]") {
  WindowBatches<TokenId> windows(counted(12), {.length = 4, .batch_size = 2, .shuffle = false});
  REQUIRE(windows.num_batches() == 1);  // windows at 0 and 4; one at 8 would have no last target
  const TensorBatch<TokenId> batch = windows.batch(0, 0);
  CHECK(batch.inputs.shape() == Shape{2, 4});
  CHECK(values(batch.inputs) == std::vector<TokenId>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(values(batch.targets) == std::vector<TokenId>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(num_labels(batch) == 8);
  const TensorBatch<TokenId> part = part_of(batch, 1, 2);
  CHECK(values(part.inputs) == std::vector<TokenId>{4, 5, 6, 7});
  CHECK(values(part.targets) == std::vector<TokenId>{5, 6, 7, 8});
}

TEST_CASE("windows: of a series with the steps after them", "[train]") {
  Tensor<float> series({7, 2});
  std::iota(series.begin(), series.end(), 0.0f);
  WindowBatches<float> windows(series, {.length = 3,
                                        .offset = 3,
                                        .target_length = 2,
                                        .stride = 1,
                                        .batch_size = 8,
                                        .shuffle = false});
  const TensorBatch<float> batch = windows.batch(0, 0);
  CHECK(batch.inputs.shape() == Shape{3, 3, 2});
  CHECK(batch.targets.shape() == Shape{3, 2, 2});
  CHECK(batch.inputs(2, 0, 1) == 5.0f);
  CHECK(batch.targets(2, 1, 1) == 13.0f);  // the last number of all
}

TEST_CASE("windows: an epoch has every window once, in an order of its own", "[train]") {
  WindowBatches<TokenId> windows(counted(41), {.length = 4, .batch_size = 3, .seed = 7});
  std::vector<TokenId> first = first_inputs(windows, 0), second = first_inputs(windows, 1);
  CHECK(first != second);
  CHECK(first == first_inputs(windows, 0));
  std::ranges::sort(first);
  std::ranges::sort(second);
  CHECK(first == std::vector<TokenId>{0, 4, 8, 12, 16, 20, 24, 28, 32, 36});
  CHECK(first == second);
}

TEST_CASE("windows: random starts cover all rows", "[train]") {
  WindowBatches<TokenId> windows(counted(20),
                                 {.length = 4, .random_starts = true, .batch_size = 3});
  std::vector<bool> seen(20);
  for (std::int64_t epoch = 0; epoch < 100; ++epoch)
    for (const TokenId start : first_inputs(windows, epoch))
      seen.at(static_cast<std::size_t>(start)) = true;
  for (std::size_t start = 0; start < 20; ++start) CHECK(seen[start] == (start <= 15));
  CHECK(first_inputs(windows, 3) == first_inputs(windows, 3));
  CHECK(first_inputs(windows, 3) != first_inputs(windows, 4));
}

TEST_CASE("windows: random starts are others in each batch", "[train]") {
  WindowBatches<TokenId> windows(counted(1000),
                                 {.length = 4, .random_starts = true, .batch_size = 3});
  CHECK(values(windows.batch(0, 0).inputs) != values(windows.batch(0, 1).inputs));
}

TEST_CASE("windows: targets may end before the inputs", "[train]") {
  WindowBatches<TokenId> windows(counted(9), {.length = 4,
                                              .offset = 1,
                                              .target_length = 2,
                                              .stride = 5,
                                              .batch_size = 2,
                                              .shuffle = false});
  const TensorBatch<TokenId> batch = windows.batch(0, 0);
  CHECK(values(batch.inputs) == std::vector<TokenId>{0, 1, 2, 3, 5, 6, 7, 8});
  CHECK(values(batch.targets) == std::vector<TokenId>{1, 2, 6, 7});
}

TEST_CASE("windows: other windows of the same rows have another fingerprint", "[train]") {
  const auto fingerprint = [](const WindowOptions& options, const Shape& shape = {12}) {
    return WindowBatches<TokenId>(counted(shape.elements()).reshaped(shape), options).fingerprint();
  };
  const WindowOptions own{.length = 2, .shuffle = false};
  WindowOptions length = own, offset = own, target_length = own, stride = own, starts = own,
                seed = own;
  length.length = 3;
  offset.offset = 2;
  target_length.target_length = 1;
  stride.stride = 1;
  starts.random_starts = true;
  seed.seed = 9;
  for (const WindowOptions& other : {length, offset, target_length, stride, starts, seed})
    CHECK(fingerprint(other) != fingerprint(own));
  CHECK(fingerprint(own, {12, 1}) != fingerprint(own));
}

TEST_CASE("windows: of a dataset in a file, the same as from memory", "[train][hdf5]") {
  const TemporaryFolder folder;
  write_tokens(folder / "text.h5", counted(50));
  const WindowOptions options{.length = 5, .batch_size = 4, .seed = 1};
  WindowBatches<TokenId> in_memory(counted(50), options);
  WindowBatches<TokenId> in_file(std::make_shared<Hdf5Rows<TokenId>>(folder / "text.h5", "tokens"),
                                 options);
  REQUIRE(in_file.num_batches() == in_memory.num_batches());
  for (Index position = 0; position < in_file.num_batches(); ++position)
    CHECK(values(in_file.batch(1, position).targets) ==
          values(in_memory.batch(1, position).targets));
  const std::uint64_t fingerprint = in_file.fingerprint();
  Tokens changed = counted(50);
  changed(30) = 0;
  write_tokens(folder / "other.h5", changed);
  CHECK(WindowBatches<TokenId>(std::make_shared<Hdf5Rows<TokenId>>(folder / "other.h5", "tokens"),
                               options)
            .fingerprint() != fingerprint);
}

TEST_CASE("windows: rows of a dataset that it does not have are refused", "[train][hdf5]") {
  const TemporaryFolder folder;
  write_tokens(folder / "text.h5", counted(5));
  const Hdf5Rows<TokenId> rows(folder / "text.h5", "tokens");
  CHECK(values(rows.read(1, 3)) == std::vector<TokenId>{1, 2});
  CHECK(rows.read(5, 5).size() == 0);
  CHECK_THROWS_AS(rows.read(3, 6), ValueError);
  CHECK_THROWS_AS(rows.read(-1, 2), ValueError);
  CHECK_THROWS_AS(Hdf5Rows<TokenId>(folder / "text.h5", "words"), FileError);
  CHECK_THROWS_AS(Hdf5Rows<float>(folder / "text.h5", "tokens").read(0, 1), FileError);
}

TEST_CASE("windows: options outside their ranges and too few rows are refused", "[train]") {
  const auto message = [](Index rows, const WindowOptions& options) {
    return message_of<ValueError>([&] { WindowBatches<TokenId>(counted(rows), options); });
  };
  CHECK_THROWS_AS(WindowBatches<float>(std::shared_ptr<const Rows<float>>(), {}), ValueError);
  CHECK(message(4, {.length = 4}) ==
        "windows: expected enough rows for a window of 4 and targets of 4 at offset 1, got 4");
  // A stride above what is missing would leave room for one window.
  CHECK(message(9, {.length = 4, .offset = 6, .stride = 5}) ==
        "windows: expected enough rows for a window of 4 and targets of 4 at offset 6, got 9");
  CHECK(message(9, {.length = 0}) == "windows: length: expected a number > 0, got 0");
  CHECK_FALSE(message(9, {.length = 2, .offset = -1}).empty());
  CHECK_FALSE(message(9, {.length = 2, .stride = -1}).empty());
  CHECK_FALSE(message(9, {.length = 2, .batch_size = 0}).empty());
  CHECK_FALSE(message(9, {.length = std::numeric_limits<Index>::max()}).empty());
  CHECK_FALSE(message(9, {.length = 2, .offset = std::numeric_limits<Index>::max()}).empty());
}
