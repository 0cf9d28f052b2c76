// WEFT_API marks what a shared library of weft exports.
#pragma once

#define WEFT_API [[gnu::visibility("default")]]
