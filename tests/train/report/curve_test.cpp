#include "train/report/internal/curve.hpp"

#include <cmath>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

TEST_CASE("curve: few values are kept as they are", "[report]") {
  Curve curve(8);
  for (int i = 1; i <= 8; ++i) curve.add(10 * i, 0.5 * i);
  REQUIRE(curve.buckets().size() == 8);
  for (int i = 1; i <= 8; ++i) {
    const Curve::Bucket& bucket = curve.buckets()[static_cast<std::size_t>(i - 1)];
    CHECK(bucket.step == 10 * i);
    CHECK(bucket.values == 1);
    CHECK(bucket.sum == 0.5 * i);
  }
}

TEST_CASE("curve: of many values, buckets keep the mean, and every spike", "[report]") {
  constexpr std::int64_t count = 100'003, spike = 77'777;
  for (const std::size_t most : {std::size_t{2}, std::size_t{7}, std::size_t{64}}) {
    Curve curve(most);
    for (std::int64_t step = 1; step <= count; ++step) curve.add(step, step == spike ? 1e6 : 1.0);
    CHECK(curve.buckets().size() <= most);
    CHECK(2 * curve.buckets().size() >= most);
    std::int64_t values = 0, before = 0, spikes = 0;
    double sum = 0.0;
    for (const Curve::Bucket& bucket : curve.buckets()) {
      CHECK(bucket.step == before + bucket.values);
      // All but the last, which values are still added to, are as wide as the first.
      if (&bucket != &curve.buckets().back())
        CHECK(bucket.values == curve.buckets().front().values);
      if (bucket.highest > 1.0) {
        ++spikes;
        CHECK((before < spike && spike <= bucket.step));
      }
      CHECK(bucket.lowest == 1.0);
      before = bucket.step;
      values += bucket.values;
      sum += bucket.sum;
    }
    CHECK(spikes == 1);
    CHECK(values == count);
    CHECK(sum == 1e6 + static_cast<double>(count - 1));
  }
}

TEST_CASE("curve: NaN and infinity are counted, and change no mean", "[report]") {
  Curve curve(2);
  for (const double value : std::vector<double>{1.0, NAN, 3.0, INFINITY, -INFINITY})
    curve.add(5, value);
  REQUIRE(curve.buckets().size() == 2);
  CHECK(curve.buckets()[0].values == 4);
  CHECK(curve.buckets()[0].finite == 2);
  CHECK(curve.buckets()[0].sum == 4.0);
  CHECK(curve.buckets()[0].lowest == 1.0);
  CHECK(curve.buckets()[0].highest == 3.0);
  CHECK(curve.buckets()[1].finite == 0);
}

TEST_CASE("curves: those of metrics.csv", "[report]") {
  const TemporaryFolder folder;
  write_bytes(folder / "metrics.csv",
              "step,epoch,loss,validation_loss\n10,1,0.5,\n20,1,nan,0.75\n30,2,-inf,\n40,2,0.");
  const auto curves = read_curves(folder / "metrics.csv");
  REQUIRE(curves.size() == 3);
  CHECK(curves[1].name == "loss");
  REQUIRE(curves[1].curve.buckets().size() == 3);  // the last line is not finished
  CHECK(curves[1].curve.buckets()[0].sum == 0.5);
  CHECK(curves[1].curve.buckets()[1].finite == 0);
  REQUIRE(curves[2].curve.buckets().size() == 1);
  CHECK(curves[2].curve.buckets()[0].step == 20);
}

TEST_CASE("curves: files that are no metrics are refused", "[report]") {
  const TemporaryFolder folder;
  const auto file = folder / "metrics.csv";
  const auto error_of = [&](const std::string& text) {
    write_bytes(file, text);
    return message_of<FileError>([&] { read_curves(file); });
  };
  CHECK(contains(message_of<FileError>([&] { read_curves(file); }), "got no such file"));
  CHECK(contains(error_of(""), "expected the first column 'step', got ''"));
  CHECK(contains(error_of("loss,step\n"), "expected the first column 'step', got 'loss,step'"));
  for (const char* row : {"x,1", "10", "10,1,2", "10,half", "-1,1", "nan,1", "10,1 "})
    CHECK(contains(error_of("step,loss\n5,1\n" + std::string(row) + "\n"),
                   "line 3: expected a row of 2 numbers, got '" + std::string(row) + "'"));
}
