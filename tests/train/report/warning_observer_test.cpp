// The warnings that a training shows.
#include <sstream>
#include <string>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;

namespace {

constexpr const char* too_small = "try a higher learning rate";

// The output of 300 steps, every hundredth of which is measured.
std::string output_of(double learning_rate) {
  std::ostringstream output;
  ToyTraining<float> toy;
  toy.model.weight.values()[0] = 1.0f;
  AdamW<float> optimizer(toy.model, {.lr = learning_rate, .weight_decay = 0.0});
  Trainer(toy.model, optimizer, toy.batches, toy.loss_function(), {.epochs = 50, .output = &output})
      .run();
  return output.str();
}

// An object that refuses its state in a checkpoint.
struct Refusing final : Stateful<float> {
  void state(State<float>& state) override { state.number("value", value); }
  void check_state() const override {
    if (value != 0.0) throw NonFiniteError("value: refused");
  }
  double value = 0.0;
};

}  // namespace

TEST_CASE("warnings: are shown for measured updates of the parameters", "[report]") {
  CHECK(contains(output_of(1e-9), too_small));
  CHECK_FALSE(contains(output_of(1e-3), too_small));
}

TEST_CASE("warnings: none are shown for a training that fails before it begins", "[report]") {
  const TemporaryFolder folder;
  std::ostringstream output;
  const auto train = [&](bool resumes) {
    ToyTraining<float> toy;
    Refusing refusing;
    Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                    {.epochs = 1, .folder = folder.path(), .resume = resumes, .output = &output});
    trainer.register_for_checkpointing("refusing", refusing);
    trainer.after_step([&](const StepReport&) { refusing.value = 1.0; });
    trainer.run();
  };
  train(false);
  CHECK_THROWS_AS(train(true), NonFiniteError);
  CHECK_FALSE(contains(output.str(), "warning"));
}
