#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include <weft/autograd.hpp>
#include <weft/layers/freeze.hpp>
#include <weft/layers/linear.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/parallel/parallel_pass.hpp>
#include <weft/train/report/profile.hpp>
#include "tests/catch.hpp"
#include "tests/thread_count_guard.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

struct TwoLayers : Module<float> {
  TwoLayers()
      : first({.in_features = 3, .out_features = 4}, random),
        second({.in_features = 4, .out_features = 2}, random) {}
  void members(Members<float>& members) const override {
    members.type("TwoLayers");
    members("first", first);
    members("second", second);
  }
  Var<float> operator()(const Var<float>& x) const { return mean(second(relu(first(x)))); }

  Random random{1};
  Linear<float> first, second;
};

const GptOptions small_gpt{
    .vocabulary_size = 11, .max_len = 8, .num_hiddens = 12, .num_heads = 3, .num_blocks = 2};

Tokens some_tokens(const Shape& shape) {
  Tokens tokens(shape);
  Random random(2);
  for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(11));
  return tokens;
}

// The rows by "layer operation".
std::map<std::string, ProfileRow> by_name(const std::vector<ProfileRow>& rows) {
  std::map<std::string, ProfileRow> result;
  for (const ProfileRow& row : rows) result[row.layer + " " + row.operation] = row;
  return result;
}

}  // namespace

TEST_CASE("profile: operations belong to the layers whose parameters they use", "[report]") {
  const TwoLayers model;
  Profile profile(model);
  Tape<float> tape({.training = true, .observer = &profile});
  std::chrono::steady_clock::time_point begin;  // a little before the steps that count
  for (int step = 0; step < 3; ++step) {
    tape.backward(model(tape.constant(Tensor<float>({5, 3}))));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (step == 0) begin = std::chrono::steady_clock::now();
    profile.end_step();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  CHECK(profile.steps() == 2);  // without the first
  CHECK(2 * profile.step_seconds() >= 0.004);
  CHECK(2 * profile.step_seconds() <= seconds.count());
  const auto rows = by_name(profile.operations());
  REQUIRE(rows.size() == 4);
  const ProfileRow first = rows.at("first linear"), second = rows.at("second linear");
  CHECK(first.calls == 2);
  // 2 · 5 · 3 · 4 FLOPs, and twice as many in backward, in two steps.
  CHECK(first.flops == 2 * 3 * (2 * 5 * 3 * 4));
  CHECK(second.flops == 2 * 3 * (2 * 5 * 4 * 2));
  // The result, weight and bias; the input is a constant. Backward counts twice.
  CHECK(first.bytes == 2 * 3 * 4 * (5 * 4 + 4 * 3 + 4));
  CHECK(first.forward_seconds > 0.0);
  CHECK(first.backward_seconds > 0.0);
  // Between the layers, and after the last one.
  CHECK(rows.at(" relu").calls == 2);
  CHECK(rows.at(" mean").flops == 0.0);

  const auto layers = by_name(profile.layers());
  CHECK(layers.at("first ").calls == 2);
  CHECK(layers.at(" ").calls == 8);
  CHECK(layers.at(" ").flops == first.flops + second.flops);
  CHECK(layers.at(" ").seconds() <= 2 * profile.step_seconds());
}

TEST_CASE("profile: operations without parameters belong to the layer around them", "[report]") {
  Random random(1);
  const Gpt<float> model(small_gpt, random);
  Profile profile(model);
  auto tape = Tape<float>({.recording = false, .observer = &profile});
  model(tape, some_tokens({2, 8}));
  const auto rows = by_name(profile.operations());
  CHECK(rows.at("blocks.1.attention scaled_dot_product_attention").calls == 1);
  CHECK(rows.at("blocks.0.attention scaled_dot_product_attention").flops ==
        2 * 2 * 3 * 8 * 8 * (4 + 4));
  CHECK(rows.at("blocks.0 add").calls == 2);  // the residual connections
  CHECK(rows.at("blocks.1 add").calls == 2);
}

TEST_CASE("profile: without recording, an operation reads its parameters and writes its result",
          "[report]") {
  const TwoLayers model;
  Profile profile(model);
  Tape<float> tape({.recording = false, .observer = &profile});
  reshape(model.first(tape.constant(Tensor<float>({5, 3}))), {20});
  const auto rows = by_name(profile.operations());
  CHECK(rows.at("first linear").bytes == 4 * (4 * 3 + 4 + 5 * 4));
  CHECK(rows.at(" reshape").bytes == 0.0);  // no element moves
}

TEST_CASE("profile: results are those without it, and parts on threads are measured", "[report]") {
  const ThreadCountGuard threads(3);
  const auto gradients = [&](bool measured) {
    Random random(1);
    Gpt<float> model(small_gpt, random);
    Profile profile(model);
    ParallelPass<float> pass(named_parameters(model), 5,
                             {.training = true, .observer = measured ? &profile : nullptr});
    double loss = 0.0;
    for (std::uint32_t step = 0; step < 2; ++step) {
      zero_grad(model);
      loss = pass.add_gradients(step, 5, [&](Tape<float>& part, Index i) {
        return cross_entropy(model(part, some_tokens({i + 1, 8})), some_tokens({i + 1, 8}));
      });
      profile.end_step();
    }
    if (measured) {
      CHECK(by_name(profile.operations()).at(" cross_entropy").calls == 5);
    } else {
      CHECK(profile.operations().empty());
    }
    std::vector<float> values{static_cast<float>(loss)};
    for (const auto& [name, parameter] : named_parameters(model)) {
      const Tensor<float> gradient = parameter->grad();
      values.insert(values.end(), gradient.begin(), gradient.end());
    }
    return values;
  };
  CHECK(gradients(true) == gradients(false));
}

TEST_CASE("profile: the memory of a layer is what its forward keeps", "[report]") {
  const TwoLayers model;
  Profile profile(model);
  Tape<float> tape({.training = true, .observer = &profile});
  const Var<float> loss = model(tape.constant(Tensor<float>({1000, 3})));
  const auto layers = by_name(profile.layers());
  // Also of results that the caller has released since.
  CHECK(layers.at(" ").memory >= static_cast<double>(tape.memory().bytes_in_use));
  CHECK(layers.at("first ").memory >= 4.0 * 1000 * 4);
  CHECK(layers.at("first ").memory < 4.0 * 1000 * 8);
  tape.clear();
}

TEST_CASE("profile: frozen layers are among those of the trainable parameters", "[report]") {
  TwoLayers model;
  freeze(model, "first");
  const TrainableParameters<float> trained(model);
  Profile profile(trained);
  Tape<float> tape({.training = true, .observer = &profile});
  for (int step = 0; step < 2; ++step) {
    tape.backward(model(tape.constant(Tensor<float>({5, 3}))));
    profile.end_step();
  }
  const auto rows = by_name(profile.operations());
  CHECK(rows.at("first linear").calls == 1);
  CHECK(rows.at("first linear").backward_seconds == 0.0);
  CHECK(rows.at("second linear").backward_seconds > 0.0);
  const std::string table = pass_table(trained, [&](Tape<float>& pass) {
    model(pass.constant(Tensor<float>({5, 3})));
  });
  CHECK_THAT(table, Catch::Contains("first   Linear, frozen      1  [5, 4]          16"));
  CHECK_THAT(table, Catch::Contains("second  Linear  "));
}

TEST_CASE("profile: what memory holds at the peak of a step, by layer", "[report]") {
  // What the tape has in use when a backward function has run, at most, and what it had when
  // forward had computed all operations before that one.
  struct Peak final : TapeObserver {
    explicit Peak(Profile& told) : profile(told) {}
    void observe(const TapeEvent& event) override {
      const auto in_use = static_cast<double>(event.memory.bytes_in_use);
      if (event.kind == TapeEvent::Kind::forward) after_forward[event.record] = in_use;
      if (event.kind == TapeEvent::Kind::backward && in_use > bytes) {
        const auto at = after_forward.lower_bound(event.record);
        bytes = in_use;
        kept = at == after_forward.begin() ? 0.0 : std::prev(at)->second;
      }
      profile.observe(event);
    }
    Profile& profile;
    std::map<int, double> after_forward;
    double bytes = 0.0, kept = 0.0;
  };
  TwoLayers model;
  AdamW<float> optimizer(model, {.lr = 1e-3});
  Profile profile(model);
  Peak peak(profile);
  Tape<float> tape({.training = true, .observer = &peak});
  constexpr Index rows = 5000;
  for (int step = 0; step < 3; ++step) {
    tape.backward(model(tape.constant(Tensor<float>({rows, 3}))));
    optimizer.step();
    profile.end_step();
  }
  profile.count_memory(optimizer, 2);
  std::map<std::string, MemoryRow> layers;
  for (const MemoryRow& row : profile.memory()) layers[row.layer] = row;
  const MemoryRow &first = layers.at("first"), &all = layers.at("");
  CHECK(first.parameters == 4 * (3 * 4 + 4));
  CHECK(first.gradients == 2 * 4 * (3 * 4 + 4));  // of two parts
  CHECK(first.optimizer == 2 * 4 * (3 * 4 + 4));  // two moments
  CHECK(all.parameters == 4 * (3 * 4 + 4 + 4 * 2 + 2));
  CHECK(all.values == Approx(peak.kept));
  CHECK(all.values + all.computing == Approx(peak.bytes));
  // Of the results of both layers and of relu, at least the first is still needed then.
  CHECK(first.values >= 4.0 * rows * 4);
  CHECK(all.values <= 4.0 * rows * (4 + 4 + 2) + 10'000);
  CHECK(all.bytes() > all.values + all.computing);
  CHECK_THAT(profile.memory_table(), Catch::Contains("first") && Catch::Contains("optimizer"));
}

TEST_CASE("profile: a trace has each operation, phase and range once, in rows of threads",
          "[report]") {
  const TemporaryFolder folder;
  const ThreadCountGuard threads(2);
  const TwoLayers model;
  Profile profile(model);
  Tape<float> tape({.training = true, .observer = &profile});
  for (int step = 0; step < 2; ++step) {
    {
      const Profile::Phase phase(&profile, "pass");
      tape.backward(model(tape.constant(Tensor<float>({20000, 3}))));
    }
    profile.end_step();
  }
  const Profile::Phase nothing(nullptr, "none");
  profile.write_trace(folder / "trace.json");
  std::ifstream file(folder / "trace.json");
  const auto events = nlohmann::json::parse(file).at("traceEvents");
  std::map<std::string, int> counts;
  for (const auto& event : events) {
    if (event.at("ph") != "X") continue;
    ++counts[event.at("cat").get<std::string>() + " " + event.at("name").get<std::string>()];
    CHECK(event.at("ts").get<double>() >= 0.0);
    CHECK(event.at("dur").get<double>() >= 0.0);
    CHECK(event.at("tid").get<int>() < 2);
  }
  CHECK(counts.at("forward linear") == 2);
  CHECK(counts.at("backward linear") == 2);
  CHECK(counts.at("phase pass") == 1);
  CHECK(counts.at("range range") > 4);
  CHECK_THROWS_AS(profile.write_trace(folder / "none" / "trace.json"), FileError);
}

TEST_CASE("profile: tables show operations, and layers of lists in one line", "[report]") {
  Random random(1);
  const Gpt<float> model(small_gpt, random);
  Profile profile(model);
  Tape<float> tape({.training = true, .observer = &profile});
  for (int step = 0; step < 3; ++step) {
    const Profile::Phase phase(&profile, "forward and backward");
    tape.backward(cross_entropy(model(tape, some_tokens({2, 8})), some_tokens({2, 8})));
    profile.end_step();
  }
  CHECK_THAT(profile.operation_table(), Catch::Contains("scaled_dot_product_attention"));
  // The same layers of all blocks are one line.
  CHECK_THAT(profile.layer_table(), Catch::Contains("blocks.*"));
  CHECK_THAT(profile.layer_table(), !Catch::Contains("blocks.1"));
}

TEST_CASE("profile: an operation that only reads and writes is limited by the memory", "[report]") {
  const TwoLayers model;
  Profile profile(model);
  Tape<float> tape({.recording = false, .observer = &profile});
  relu(tape.constant(Tensor<float>({1 << 22})));
  CHECK_THAT(profile.operation_table(), !Catch::Contains(" 0.0 %"));
}

TEST_CASE("pass_table: the shapes, parameters, FLOPs and memory of each layer", "[report]") {
  const TwoLayers model;
  const std::string table = pass_table(model, [&](Tape<float>& tape) {
    model(tape.constant(Tensor<float>({5000, 3})));
  });
  CHECK_THAT(table, Catch::Contains("first   Linear") && Catch::Contains("[5000, 4]"));
  CHECK_THAT(table, Catch::Contains("[5000, 2]          10   0.08"));
  // Both blocks together: 2 · (4 · (12 · 12 + 12) + 2 · (48 · 12) + 48 + 12 + 4 · 12).
  Random random(1);
  const Gpt<float> gpt(small_gpt, random);
  CHECK_THAT(pass_table<float>(gpt,
                               [&](Tape<float>& tape) {
                                 gpt(tape, some_tokens({2, 8}));
                               }),
             Catch::Contains("   3768   "));
}

TEST_CASE("measure_limits: a product and a copy take time", "[report]") {
  const MachineLimits limits = measure_limits();
  CHECK(limits.flops_per_second > 1e8);
  CHECK(limits.bytes_per_second > 1e7);
}
