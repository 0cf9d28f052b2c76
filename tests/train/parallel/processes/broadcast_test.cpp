// What a group sends: texts and memory of any size, from any process, and states.
#include <string>

#include <weft/train/parallel/broadcast_state.hpp>
#include "tests/catch.hpp"
#include "tests/train/parallel/processes/several_processes.hpp"

using namespace weft;

namespace {

// A state of each kind of value.
struct AllKinds final : Stateful<float> {
  void state(State<float>& state) override {
    state.text("text", text);
    state.integer("integer", integer);
    state.number("number", number);
    state.tensor("tensor", tensor);
  }
  std::string text;
  std::int64_t integer = 0;
  double number = 0.0;
  Tensor<float> tensor{Shape{3}};
};

struct WithBuffer final : Module<float> {
  void members(Members<float>& members) const override {
    members.type("WithBuffer");
    members("weight", weight);
    members.buffer("buffer", buffer);
  }
  Parameter<float> weight{Tensor<float>({2})};
  Tensor<float> buffer{Shape{2}};
};

}  // namespace

TEST_CASE("processes: a text of any size comes from any process", "[processes]") {
  ProcessGroup& processes = test_processes();
  for (int from = 0; from < processes.size(); ++from)
    for (const std::size_t size : {std::size_t{0}, std::size_t{1} << 20, std::size_t{5} << 19}) {
      std::string sent(size, 'x');
      for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<char>('a' + (i / 999 + 7) % 26);
      CHECK((processes.broadcast(processes.rank() == from ? sent : "another", from) == sent));
    }
}

TEST_CASE("processes: the state of the first one becomes that of all", "[processes]") {
  ProcessGroup& processes = test_processes();
  AllKinds all;
  WithBuffer model;
  if (processes.is_root()) {
    all.text = "a longer text";
    all.integer = 7;
    all.number = 0.5;
    all.tensor.fill(2.0f);
    model.weight.set_value(Tensor<float>::full({2}, 3.0f));
    model.buffer.fill(4.0f);
  }
  broadcast_state<float>(processes, all);
  broadcast_state<float>(processes, model);
  CHECK(all.text == "a longer text");
  CHECK(all.integer == 7);
  CHECK(all.number == 0.5);
  CHECK(all.tensor(2) == 2.0f);
  CHECK(model.weight.value()(1) == 3.0f);
  CHECK(model.buffer(1) == 4.0f);
}
