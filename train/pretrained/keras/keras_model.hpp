// KerasModel: a model of Keras, opened from the file in which Keras saved it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// What load_keras reads from a file.
template <class T>
struct KerasModelState;

// The result of KerasModel::run.
template <class T = float>
struct KerasResult {
  std::vector<Var<T>> outputs;  // [batch, ...] each, in the order of the model's outputs
  // The sum of all regularizers, which Keras adds to the loss: a scalar []. Empty if the model has
  // none.
  std::optional<Var<T>> penalty;
};

// An input of a KerasModel.
struct KerasInput {
  std::string name;          // of the InputLayer
  std::vector<Index> sizes;  // without the batch; -1 for any size
};

// A Sequential or functional model of Keras 2 or Keras 3:
// layers, options, connections and weights. Parameters have the names and shapes of Keras, such as
// "lstm.cell.recurrent_kernel" [units, 4 · units], and can be trained and saved in checkpoints like
// those of any module. Masks of Embedding and Masking reach the same layers as in Keras. A layer
// that is not trainable in Keras is frozen. Passes change the averages of BatchNormalization while
// training, and the states of recurrent layers with `stateful`: such a model must not run on
// several threads at once.
template <class T = float>
class WEFT_API KerasModel final : public Module<T> {
 public:
  // Holds a model that load_keras has opened.
  explicit KerasModel(KerasModelState<T> state);
  KerasModel(const KerasModel& other);
  KerasModel(KerasModel&& other) noexcept;
  KerasModel& operator=(KerasModel other) noexcept;
  ~KerasModel() override;

  // Computes the output of a model with one input x [batch, ...] and one output [batch, ...]. Token
  // ids are whole numbers. Throws ShapeError for shapes that the layers do not accept and for a
  // model with several inputs or outputs, and ValueError for values that they do not accept, such
  // as a token outside the vocabulary; the message names the layer.
  //   KerasModel model = load_keras("model.h5");
  //   Var y = model(tape.constant(X));
  Var<T> operator()(const Var<T>& x) const;
  // Computes all outputs, each [batch, ...], from all inputs, each [batch, ...], along with the sum
  // of the regularizers. Throws ShapeError if there is no input, and the same exceptions as
  // operator().
  KerasResult<T> run(const std::vector<Var<T>>& inputs) const;
  // Returns the inputs in the order of `run`.
  std::vector<KerasInput> inputs() const;
  // Returns the name of the loss with which Keras trained the model, such as "mean_squared_error".
  // Empty if the file does not contain one, or contains several or one of logits.
  std::string training_loss() const;
  // Returns the tokens of the layer TextVectorization by their ids, if the file is a .keras archive
  // that contains them; otherwise, nothing. The first token stands for padding, and the second for
  // unknown words. Such a model expects token ids [batch, time] instead of texts.
  std::vector<std::string> vocabulary() const;
  // Sets the states of recurrent layers with `stateful` to zeros, as at the start of a sequence.
  void reset_states();
  void members(Members<T>& members) const override;

 private:
  friend struct KerasModelState<T>;

  std::unique_ptr<KerasModelState<T>> state_;
};

extern template class KerasModel<float>;
extern template class KerasModel<double>;

}  // namespace weft
