// GatedLinear: a layer of one's own.
#pragma once

#include <weft/layers.hpp>

using namespace weft;

template <class T = float>
struct GatedLinear : Module<T> {
  GatedLinear(Index in_features, Index out_features, Random& random)
      : value({in_features, out_features}, random), gate({in_features, out_features}, random) {}

  // x [..., in_features], result [..., out_features].
  Var<T> operator()(const Var<T>& x) const { return value(x) * gate(x, Activation::sigmoid); }

  void members(Members<T>& members) const override {
    members.type("GatedLinear");
    members("value", value);
    members("gate", gate);
  }

  Linear<T> value, gate;
};
