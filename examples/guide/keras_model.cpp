// keras_model MODEL DATA.csv FILE: trains a model of Keras further on a series and saves it for
// Keras.
#include <iostream>

#include <weft/pretrained.hpp>

using namespace weft;

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: keras_model MODEL DATA.csv FILE\n";
    return 2;
  }
  KerasModel model = load_keras(argv[1]);
  std::cout << model << '\n';

  const Table table = read_csv(argv[2]);
  const Tensor<float> rows = table.numbers();  // twelve values and the next one, [300, 13]
  const Tensor<float> targets = table.numbers({"next"});
  Tensor<float> inputs({rows.shape()[0], 12, 1});
  for (Index i = 0; i < inputs.shape()[0]; ++i)
    for (Index j = 0; j < 12; ++j) inputs(i, j, 0) = rows(i, j);

  Tape tape = Tape<>::inference();
  const Var y = model(tape.constant(inputs));  // equal to model.predict(inputs) in Keras
  std::cout << "loss before " << mse_loss(y, tape.constant(targets)).item() << '\n';

  TensorBatches<float> batches(inputs, targets, {.batch_size = 32});
  const auto loss = [&](Tape<float>& step, const TensorBatch<float>& batch) {
    return mse_loss(model(step.constant(batch.inputs)), step.constant(batch.targets));
  };
  AdamW optimizer(model, {.lr = 3e-3, .weight_decay = 0});
  Trainer(model, optimizer, batches, loss, {.epochs = 20}).run();
  std::cout << "loss after " << mean_loss(batches, loss) << '\n';
  save_keras(argv[3], model);
}
