#include <weft/autograd/error.hpp>
#include <weft/train/data/hdf5_rows.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

TEST_CASE("hdf5 rows: a single element has no rows", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "rows.h5");
  writer.tensor("one", Tensor<float>(Shape{}));
  writer.save();
  const std::string message =
      message_of<FileError>([&] { Hdf5Rows<float>(folder / "rows.h5", "one"); });
  CHECK(
      message.ends_with("rows.h5: /one: expected a dataset of rows, [n, …], got a single element"));
}

TEST_CASE("hdf5 rows: the fingerprint is that of the shape and of rows from all over", "[train]") {
  const TemporaryFolder folder;
  const auto fingerprint = [&](const Tensor<float>& rows) {
    Hdf5Writer writer(folder / "rows.h5");
    writer.tensor("rows", rows);
    writer.save();
    return Hdf5Rows<float>(folder / "rows.h5", "rows").fingerprint();
  };
  const Tensor<float> zeros({129, 2});
  CHECK(fingerprint(zeros) == fingerprint(zeros));
  // Every second row is read, of 129 rows as of 130.
  CHECK(fingerprint(zeros) != fingerprint(Tensor<float>({130, 2})));
  for (const Index row : {0, 64, 128}) {
    Tensor<float> changed = zeros.clone();
    changed(row, 1) = 1.0f;
    CHECK(fingerprint(changed) != fingerprint(zeros));
  }
}
