// Empty functions are refused where they are given, not where they would be called.
#include <weft/layers/freeze.hpp>
#include <weft/layers/linear.hpp>
#include <weft/layers/lora.hpp>
#include <weft/train/data/windows.hpp>
#include <weft/train/evaluation.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/files/safetensors/safetensors_writer.hpp>
#include <weft/train/report/profile.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

TEST_CASE("empty functions: each argument that is one is refused by name", "[train]") {
  Random random(1);
  Linear<float> model({.in_features = 2, .out_features = 2}, random);
  WindowBatches<float> source(Tensor<float>({8, 1}), {.length = 2});
  ProcessGroup processes;
  const TemporaryFolder folder;
  Hdf5Writer hdf5(folder / "a.h5");
  SafetensorsWriter safetensors(folder / "a.safetensors");
  const auto error = [](const auto& call) { return message_of<ValueError>(call); };
  const std::string got = ": expected a function, got none";
  CHECK(error([&] { add_lora(model, {}, NameFilter(), random); }) == "add_lora: filter" + got);
  CHECK_FALSE(model.map);
  CHECK(error([&] { freeze(model, NameFilter()); }) == "freeze: filter" + got);
  CHECK(error([&] { unfreeze(model, NameFilter()); }) == "unfreeze: filter" + got);
  CHECK(error([&] { (void)mean_loss<float>(source, LossFunction<float, TensorBatch<float>>()); }) ==
        "mean loss: loss" + got);
  CHECK(error([&] {
          (void)mean_metric<float>(source, MetricFunction<float, TensorBatch<float>>());
        }) == "mean metric: metric" + got);
  CHECK(error([&] { (void)pass_table<float>(model, {}); }) == "pass_table: pass" + got);
  CHECK(error([&] { processes.run_collectively({}); }) == "processes: work" + got);
  CHECK(error([&] { (void)processes.broadcast_from_root({}); }) == "processes: read" + got);
  CHECK(error([&] { hdf5.tensor<float>("x", {1}, std::function<Tensor<float>()>()); }) ==
        "Hdf5Writer: x" + got);
  CHECK(error([&] {
          safetensors.tensor<float>("x", {1}, std::function<Tensor<float>()>());
        }).ends_with("x" + got));
}
