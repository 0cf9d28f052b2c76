// Weights: reads and writes a model's parameters and buffers, in HDF5 files of weft and of other
// programs.
#pragma once

#include "weft/train/weights/load_weights.hpp"
#include "weft/train/weights/save_weights.hpp"
